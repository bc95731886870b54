package books

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
)

// Host tells partnerkit about the users and businesses of the books. Get one from
// [Site.Host].
type Host struct {
	books    *Books
	sessions *sessions
}

var (
	_ oauthserver.Host = Host{}
	_ console.Host     = Host{}
	_ operator.Host    = Host{}
	_ operator.Finder  = Host{}
)

// Session returns the session of the cookie. Its business is one that the person is a member of now, or
// empty.
func (h Host) Session(r *http.Request) (identity.Session, bool, error) {
	session, ok, err := h.sessions.find(r)
	if err != nil || !ok || session.BusinessID == "" {
		return session, ok, err
	}
	isMember, err := h.IsMember(r.Context(), session.BusinessID, session.UserID)
	if err != nil {
		return identity.Session{}, false, err
	}
	if !isMember {
		session.BusinessID = ""
	}
	return session, true, nil
}

// SignIn redirects to the sign-in page.
func (h Host) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

// Businesses returns those that the user is a member of. A member with the permission
// apps.install may connect apps.
func (h Host) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	memberships, err := h.books.Memberships(ctx, userID)
	if err != nil {
		return nil, err
	}
	all := make([]oauthserver.Business, 0, len(memberships))
	for _, m := range memberships {
		all = append(all, oauthserver.Business{
			ID: m.BusinessID, Name: m.Business, SandboxOf: m.SandboxOf, MayConnect: m.may(mayInstallApps),
		})
	}
	return all, nil
}

// IsMember reads the books at every call, so that leaving a business takes effect at once.
func (h Host) IsMember(ctx context.Context, businessID, userID string) (bool, error) {
	_, err := h.books.membership(ctx, userID, businessID)
	if errors.Is(err, ErrAbsent) {
		return false, nil
	}
	return err == nil, err
}

// Organizations returns those that the user is a member of.
func (h Host) Organizations(ctx context.Context, userID string) ([]console.Organization, error) {
	return h.books.organizationsOf(ctx, userID)
}

// User returns a user for the operator's side.
func (h Host) User(ctx context.Context, userID string) (operator.User, bool, error) {
	user, err := h.books.User(ctx, userID)
	if errors.Is(err, ErrAbsent) {
		return operator.User{}, false, nil
	}
	return operator.User{ID: user.ID, Name: user.Name, Email: user.Email, IsOperator: user.IsOperator}, err == nil, err
}

// FindUsers finds users for the operator's side.
func (h Host) FindUsers(ctx context.Context, query string, limit int) ([]operator.User, error) {
	return h.books.findUsers(ctx, query, limit)
}

// FindOrganizations finds organizations for the operator's side.
func (h Host) FindOrganizations(ctx context.Context, query string, limit int) ([]console.Organization, error) {
	return h.books.findOrganizations(ctx, query, limit)
}

// BusinessName returns the name of a business; empty if there is none.
func (h Host) BusinessName(ctx context.Context, businessID string) (name string, err error) {
	err = one(ctx, h.books.store, "SELECT name FROM books_business WHERE id = $1", []any{businessID}, &name)
	if errors.Is(err, ErrAbsent) {
		return "", nil
	}
	return name, err
}

// EraseUser deletes a user with the sessions and memberships.
func (h Host) EraseUser(ctx context.Context, userID string) error {
	return h.books.EraseUser(ctx, userID)
}
