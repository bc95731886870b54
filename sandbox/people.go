package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/theme"
)

// sessionCookie is the cookie of the sandbox's own sessions.
const sessionCookie = "sandbox_session"

// mayConnectApps is the permission of a member who may connect apps.
const mayConnectApps = "apps.install"

// ownPeople keeps the people of the fixtures in memory, for hosts that do not keep them, and
// asks the host about everybody else. A user of the fixtures may have the id of one of the
// host's.
type ownPeople struct {
	server      *server
	host        oauthserver.Host
	developers  console.Host      // nil: the host has none
	operators   operator.Host     // likewise
	permissions guard.Permissions // likewise
	names       func(ctx context.Context, id string) (string, error)
	makers      func(ctx context.Context, id string) (string, error)

	mu       sync.Mutex
	data     seed.Data
	sessions map[string]identity.Session // by the value of their cookie
}

func newOwnPeople(s *server) *ownPeople {
	return &ownPeople{server: s, sessions: make(map[string]identity.Session)}
}

// join puts the people in front of those of the host.
func (p *ownPeople) join(cfg *partnerkit.Config) {
	p.host, p.developers, p.operators, p.permissions = cfg.Host, cfg.Developers, cfg.Operators, cfg.Permissions
	p.names, p.makers = cfg.BusinessName, cfg.OAuth.OrganizationName
	cfg.Host, cfg.Developers, cfg.Operators, cfg.Permissions = p, p, p, p
	cfg.BusinessName, cfg.OAuth.OrganizationName = p.businessName, p.organizationName
	if cfg.OAuth.BusinessPath == "" {
		cfg.OAuth.BusinessPath = signInPath
	}
	cfg.Theme = withSignOut(cfg.Theme)
	if own := cfg.ThemeFor; own != nil {
		cfg.ThemeFor = func(r *http.Request) theme.Theme { return withSignOut(own(r)) }
	}
}

// withSignOut completes a theme with the pages of the sandbox.
func withSignOut(t theme.Theme) theme.Theme {
	if t.Links == nil {
		t.Links = []theme.Link{{Text: "Connected apps", Href: "/settings/apps"}, {Text: "API", Href: "/openapi"}, {Text: "Developers", Href: "/developer"}, {Text: "Operator", Href: "/operator"}, {Text: "Development", Href: pagesPrefix}}
	}
	t.SignOut, t.SwitchAccount, t.Switch = signOutPath, signInPath, switchPath
	return t
}

// set replaces the people. Sessions end.
func (p *ownPeople) set(data seed.Data) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data = data
	clear(p.sessions)
}

// Origin implements [People]: a database with an app is not empty. People are not kept, so
// they are those of the fixtures at every start.
func (p *ownPeople) Origin(ctx context.Context) (string, error) {
	apps, err := p.server.store.Apps(ctx, partner.AppQuery{All: true, Limit: 1})
	if err != nil || len(apps) == 0 {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.data.Origin, nil
}

// Fill implements [People].
func (p *ownPeople) Fill(ctx context.Context, _ string, _ json.RawMessage, apps func(storage.Tx) error) (bool, error) {
	return true, p.server.store.InTx(ctx, apps)
}

// StartSession implements [People].
func (p *ownPeople) StartSession(_ *http.Request, userID, businessID string) (*http.Cookie, error) {
	value, now := secret.New(secret.Session).Reveal(), p.server.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[value] = identity.Session{ID: id.New(id.Session, now), UserID: userID, BusinessID: businessID, DisplayName: p.user(userID).Name, SignedInAt: now}
	return &http.Cookie{Name: sessionCookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}, nil //nolint:gosec // on loopback, which may be http
}

// user returns the user with the id, or the zero User. It needs the lock.
func (p *ownPeople) user(userID string) seed.User {
	i := slices.IndexFunc(p.data.Users, func(u seed.User) bool { return u.ID == userID })
	if i < 0 {
		return seed.User{}
	}
	return p.data.Users[i]
}

// business returns the business with the id; nil if there is none. It needs the lock.
func (p *ownPeople) business(businessID string) *seed.Business {
	i := slices.IndexFunc(p.data.Businesses, func(b seed.Business) bool { return b.ID == businessID })
	if i < 0 {
		return nil
	}
	return &p.data.Businesses[i]
}

// member returns a member of a business; nil if the user is none. It needs the lock.
func (p *ownPeople) member(businessID, userID string) *seed.Member {
	b := p.business(businessID)
	if b == nil {
		return nil
	}
	i := slices.IndexFunc(b.Members, func(m seed.Member) bool { return m.UserID == userID })
	if i < 0 {
		return nil
	}
	return &b.Members[i]
}

// may reports whether a member has a permission: those that the fixtures list, or all of them
// for owners and admins.
func may(m seed.Member, permission string) bool {
	if m.Permissions != nil {
		return slices.Contains(m.Permissions, permission)
	}
	return m.Role == "owner" || m.Role == "admin"
}

// HasUser implements [People].
func (p *ownPeople) HasUser(_ context.Context, userID string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return userID != "" && p.user(userID).ID == userID, nil
}

// HasBusiness implements [People]. The host may have businesses that the fixtures do not
// name, and there is no way to ask it.
func (p *ownPeople) HasBusiness(ctx context.Context, businessID string) (bool, error) {
	name, err := p.businessName(ctx, businessID)
	return name != "", err
}

// SetRole implements [People].
func (p *ownPeople) SetRole(_ context.Context, businessID, userID, role string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, m := p.business(businessID), p.member(businessID, userID)
	switch {
	case b == nil:
		return partner.ErrNotFound
	case role == "":
		b.Members = slices.DeleteFunc(b.Members, func(m seed.Member) bool { return m.UserID == userID })
	case m != nil:
		m.Role = role
	default:
		b.Members = append(b.Members, seed.Member{UserID: userID, Role: role})
	}
	return nil
}

// SetPermissions implements [People].
func (p *ownPeople) SetPermissions(_ context.Context, businessID, userID string, permissions []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.member(businessID, userID)
	if m == nil {
		return partner.ErrNotFound
	}
	m.Permissions = permissions
	return nil
}

// FirstOrganization implements [People].
func (p *ownPeople) FirstOrganization(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.data.Organizations) == 0 {
		return "", nil
	}
	return p.data.Organizations[0].ID, nil
}

// Session implements oauthserver.Host. A session of the host is valid too.
func (p *ownPeople) Session(r *http.Request) (identity.Session, bool, error) {
	for _, cookie := range r.CookiesNamed(sessionCookie) {
		p.mu.Lock()
		session, ok := p.sessions[cookie.Value]
		p.mu.Unlock()
		if !ok {
			continue
		}
		isMember, err := p.IsMember(r.Context(), session.BusinessID, session.UserID)
		if !isMember {
			session.BusinessID = ""
		}
		return session, err == nil, err
	}
	return p.host.Session(r)
}

// endSession signs out.
func (p *ownPeople) endSession(r *http.Request) *http.Cookie {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cookie := range r.CookiesNamed(sessionCookie) {
		delete(p.sessions, cookie.Value)
	}
	return &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // see StartSession
}

// SignIn implements oauthserver.Host with the page on which a person is chosen.
func (p *ownPeople) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, signInPath+"?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

// Businesses implements oauthserver.Host.
func (p *ownPeople) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	all, err := p.host.Businesses(ctx, userID)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.data.Businesses {
		m := p.member(b.ID, userID)
		if m == nil || slices.ContainsFunc(all, func(one oauthserver.Business) bool { return one.ID == b.ID }) {
			continue
		}
		one := oauthserver.Business{ID: b.ID, Name: b.Name, SandboxOf: string(b.OrganizationID), MayConnect: may(*m, mayConnectApps)}
		if b.Sandbox != nil && !*b.Sandbox {
			one.SandboxOf = ""
		}
		all = append(all, one)
	}
	return all, nil
}

// IsMember implements oauthserver.Host.
func (p *ownPeople) IsMember(ctx context.Context, businessID, userID string) (bool, error) {
	p.mu.Lock()
	m := p.member(businessID, userID)
	p.mu.Unlock()
	if m != nil || businessID == "" {
		return m != nil, nil
	}
	return p.host.IsMember(ctx, businessID, userID)
}

// Organizations implements console.Host.
func (p *ownPeople) Organizations(ctx context.Context, userID string) (all []console.Organization, err error) {
	if p.developers != nil {
		if all, err = p.developers.Organizations(ctx, userID); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.data.Organizations {
		if slices.Contains(o.Members, userID) {
			all = append(all, console.Organization{ID: o.ID, Name: o.Name})
		}
	}
	return all, nil
}

// User implements operator.Host.
func (p *ownPeople) User(ctx context.Context, userID string) (operator.User, bool, error) {
	p.mu.Lock()
	u := p.user(userID)
	p.mu.Unlock()
	if u.ID == "" && p.operators != nil {
		return p.operators.User(ctx, userID)
	}
	return operatorUser(u), u.ID != "", nil
}

func operatorUser(u seed.User) operator.User {
	return operator.User{ID: u.ID, Name: u.Name, Email: u.Email, IsOperator: u.Operator}
}

// EraseUser implements operator.Host.
func (p *ownPeople) EraseUser(ctx context.Context, userID string) error {
	p.mu.Lock()
	p.data.Users = slices.DeleteFunc(p.data.Users, func(u seed.User) bool { return u.ID == userID })
	for i := range p.data.Businesses {
		b := &p.data.Businesses[i]
		b.Members = slices.DeleteFunc(b.Members, func(m seed.Member) bool { return m.UserID == userID })
	}
	for i := range p.data.Organizations {
		o := &p.data.Organizations[i]
		o.Members = slices.DeleteFunc(o.Members, func(member string) bool { return member == userID })
	}
	for value, session := range p.sessions {
		if session.UserID == userID {
			delete(p.sessions, value)
		}
	}
	p.mu.Unlock()
	if p.operators != nil {
		return p.operators.EraseUser(ctx, userID)
	}
	return nil
}

// FindUsers implements operator.Finder.
func (p *ownPeople) FindUsers(ctx context.Context, query string, limit int) (found []operator.User, err error) {
	if finder, ok := p.operators.(operator.Finder); ok {
		if found, err = finder.FindUsers(ctx, query, limit); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.data.Users {
		if len(found) < limit && (hasPart(u.ID, query) || hasPart(u.Email, query)) {
			found = append(found, operatorUser(u))
		}
	}
	return found, nil
}

// FindOrganizations implements operator.Finder.
func (p *ownPeople) FindOrganizations(ctx context.Context, query string, limit int) (found []console.Organization, err error) {
	if finder, ok := p.operators.(operator.Finder); ok {
		if found, err = finder.FindOrganizations(ctx, query, limit); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.data.Organizations {
		if len(found) < limit && (o.ID == query || hasPart(o.Name, query)) {
			found = append(found, console.Organization{ID: o.ID, Name: o.Name})
		}
	}
	return found, nil
}

func hasPart(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// HasPermission implements guard.Permissions.
func (p *ownPeople) HasPermission(ctx context.Context, businessID, userID string, permission guard.Permission) (bool, error) {
	p.mu.Lock()
	m := p.member(businessID, userID)
	has := m != nil && may(*m, string(permission))
	p.mu.Unlock()
	if m != nil || p.permissions == nil {
		return has, nil
	}
	return p.permissions.HasPermission(ctx, businessID, userID, permission)
}

func (p *ownPeople) businessName(ctx context.Context, businessID string) (string, error) {
	p.mu.Lock()
	b := p.business(businessID)
	p.mu.Unlock()
	if b != nil {
		return b.Name, nil
	}
	if p.names == nil {
		return "", nil
	}
	return p.names(ctx, businessID)
}

func (p *ownPeople) organizationName(ctx context.Context, organizationID string) (string, error) {
	p.mu.Lock()
	for _, o := range p.data.Organizations {
		if o.ID == organizationID {
			p.mu.Unlock()
			return o.Name, nil
		}
	}
	p.mu.Unlock()
	if p.makers == nil {
		return "", nil
	}
	return p.makers(ctx, organizationID)
}

// defaultData is the fixtures of a program that has none.
func defaultData(cfg partnerkit.Config) seed.Data {
	scopes := cfg.Scopes.Requestable()
	return seed.Data{
		Origin:        seed.DemoOrigin,
		Users:         []seed.User{{ID: "usr_dev", Email: "dev@example.com", Name: "Dana Petrova", Operator: true}},
		Organizations: []seed.Organization{{ID: "org_dev", Name: "Example Partner", Members: []string{"usr_dev"}}},
		Businesses: []seed.Business{
			{ID: "biz_demo", Name: "Example Business", Members: []seed.Member{{UserID: "usr_dev", Role: "owner"}}},
			{ID: "biz_sandbox", Name: "Example Sandbox", OrganizationID: "org_dev", Members: []seed.Member{{UserID: "usr_dev", Role: "owner"}}},
		},
		Apps: []seed.App{{
			ID: "app_demo", ClientID: "demo-app", ClientSecret: "demo-secret", Type: string(partner.Confidential), Name: "Demo App",
			OrganizationID: "org_dev", Reviewed: true, RedirectURIs: []string{"http://localhost:9090/callback", "http://127.0.0.1:9090/callback"},
			Scopes: seed.ScopeList{Scopes: scopes},
		}},
	}
}
