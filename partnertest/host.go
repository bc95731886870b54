package partnertest

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
)

// What a new [Host] has: a user who may connect apps to a business and develops apps for
// an organization.
const (
	User         = "usr_ada"
	Business     = "biz_bakery"
	Organization = "org_ledgerlink"
)

// sessionCookie is the name of the cookie of a session.
const sessionCookie = "partnertest_session"

// Host is a host without a backend: it keeps people, businesses and organizations in
// memory. It implements oauthserver.Host, console.Host and operator.Host; partnerkit's
// Config.Operators is nil unless an edit of [New] sets it. Make one with [NewHost]. It is safe
// for concurrent use.
type Host struct {
	mu            sync.Mutex
	businesses    map[string][]oauthserver.Business
	organizations map[string][]console.Organization
	users         map[string]operator.User
	sessions      map[string]identity.Session // by the value of their cookie
	created       int                         // how many sessions there have been
	err           error
}

// NewHost returns a host with [User], [Business] and [Organization].
func NewHost() *Host {
	h := &Host{
		businesses: map[string][]oauthserver.Business{}, organizations: map[string][]console.Organization{}, users: map[string]operator.User{}, sessions: map[string]identity.Session{},
	}
	h.SetUser(operator.User{ID: User, Name: "Ada"})
	h.AddBusiness(User, oauthserver.Business{ID: Business, Name: "Corner Bakery", MayConnect: true})
	h.AddOrganization(User, console.Organization{ID: Organization, Name: "Ledgerlink"})
	return h
}

// AddBusiness makes a user a member of a business. A business of the user with the same
// ID is replaced.
func (h *Host) AddBusiness(userID string, b oauthserver.Business) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.businesses[userID]
	if i := slices.IndexFunc(all, func(one oauthserver.Business) bool { return one.ID == b.ID }); i >= 0 {
		all[i] = b
		return
	}
	h.businesses[userID] = append(all, b)
}

// RemoveBusiness ends a user's membership of a business.
func (h *Host) RemoveBusiness(userID, businessID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.businesses[userID] = slices.DeleteFunc(h.businesses[userID], func(b oauthserver.Business) bool { return b.ID == businessID })
}

// SetUser adds a user, or replaces the one with the same ID. A user with IsOperator is one
// of the platform's own staff.
func (h *Host) SetUser(u operator.User) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users[u.ID] = u
}

// User returns a user of [Host.SetUser].
func (h *Host) User(_ context.Context, userID string) (operator.User, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	user, ok := h.users[userID]
	return user, ok, h.err
}

// FindUsers implements operator.Finder.
func (h *Host) FindUsers(_ context.Context, query string, limit int) ([]operator.User, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []operator.User
	for _, id := range slices.Sorted(maps.Keys(h.users)) {
		if user := h.users[id]; len(found) < limit && (contains(user.ID, query) || contains(user.Email, query)) {
			found = append(found, user)
		}
	}
	return found, h.err
}

// FindOrganizations implements operator.Finder.
func (h *Host) FindOrganizations(_ context.Context, query string, limit int) ([]console.Organization, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []console.Organization
	for _, id := range slices.Sorted(maps.Keys(h.organizations)) {
		for _, one := range h.organizations[id] {
			if len(found) < limit && (one.ID == query || contains(one.Name, query)) && !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found, h.err
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// EraseUser removes a user with the sessions and memberships.
func (h *Host) EraseUser(_ context.Context, userID string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.users, userID)
	delete(h.businesses, userID)
	delete(h.organizations, userID)
	maps.DeleteFunc(h.sessions, func(_ string, s identity.Session) bool { return s.UserID == userID })
	return h.err
}

// AddOrganization makes a user a developer of an organization.
func (h *Host) AddOrganization(userID string, o console.Organization) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.organizations[userID] = append(h.organizations[userID], o)
}

// RemoveOrganization ends a user's membership of an organization.
func (h *Host) RemoveOrganization(userID, organizationID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.organizations[userID] = slices.DeleteFunc(h.organizations[userID], func(o console.Organization) bool { return o.ID == organizationID })
}

// NewSession signs a user in, in a business unless businessID is empty, and returns the
// cookie of the session. Pages show the user's id as the name.
func (h *Host) NewSession(userID, businessID string) *http.Cookie {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.created++
	id := "ses_" + strconv.Itoa(h.created)
	h.sessions[id] = identity.Session{ID: id, UserID: userID, BusinessID: businessID, DisplayName: userID}
	return &http.Cookie{Name: sessionCookie, Value: id} //nolint:gosec // on loopback, in a test
}

// ChangeSession changes the session of a cookie, for example its business.
func (h *Host) ChangeSession(cookie *http.Cookie, change func(*identity.Session)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	session := h.sessions[cookie.Value]
	change(&session)
	h.sessions[cookie.Value] = session
}

// EndSession signs the session of a cookie out.
func (h *Host) EndSession(cookie *http.Cookie) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, cookie.Value)
}

// SetError makes every method that the platform calls return err, as a backend does
// whose database fails. Nil ends this.
func (h *Host) SetError(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
}

// Session implements oauthserver.Host and console.Host.
func (h *Host) Session(r *http.Request) (identity.Session, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return identity.Session{}, false, h.err
	}
	session, ok := h.sessions[cookie.Value]
	return session, ok, h.err
}

// SignIn implements oauthserver.Host: it redirects to /login?return_to=….
func (h *Host) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

// Businesses implements oauthserver.Host.
func (h *Host) Businesses(_ context.Context, userID string) ([]oauthserver.Business, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.businesses[userID]), h.err
}

// IsMember implements oauthserver.Host.
func (h *Host) IsMember(_ context.Context, businessID, userID string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.businesses[userID], func(b oauthserver.Business) bool { return b.ID == businessID }), h.err
}

// Organizations implements console.Host.
func (h *Host) Organizations(_ context.Context, userID string) ([]console.Organization, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.organizations[userID]), h.err
}

// sessionsFirst is a host on which the sessions of the double are valid too.
type sessionsFirst struct {
	oauthserver.Host
	double *Host
}

func (s sessionsFirst) Session(r *http.Request) (identity.Session, bool, error) {
	return s.double.sessionOr(r, s.Host.Session)
}

// developersFirst is the same for the console.
type developersFirst struct {
	console.Host
	double *Host
}

func (d developersFirst) Session(r *http.Request) (identity.Session, bool, error) {
	return d.double.sessionOr(r, d.Host.Session)
}

func (h *Host) sessionOr(r *http.Request, other func(*http.Request) (identity.Session, bool, error)) (identity.Session, bool, error) {
	if session, ok, err := h.Session(r); ok || err != nil {
		return session, ok, err
	}
	return other(r)
}
