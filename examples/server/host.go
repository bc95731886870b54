package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// host is what the OAuth server asks about the books' users and businesses.
type host struct {
	books    *books
	sessions *sessions
}

var (
	_ oauthserver.Host = host{}
	_ console.Host     = host{}
)

// Session is by the cookie. Its business is one that the person is a member of now, or
// empty.
func (h host) Session(r *http.Request) (identity.Session, bool, error) {
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

// SignIn leads to the page that does it.
func (h host) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

// Businesses are those of the books. Who holds apps.install there may connect.
func (h host) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	memberships, err := h.books.memberships(ctx, userID)
	if err != nil {
		return nil, err
	}
	all := make([]oauthserver.Business, 0, len(memberships))
	for _, m := range memberships {
		all = append(all, oauthserver.Business{
			ID: m.businessID, Name: m.business, SandboxOf: m.sandboxOf, MayConnect: m.may(mayInstallApps),
		})
	}
	return all, nil
}

// IsMember looks at the books as they are now.
func (h host) IsMember(ctx context.Context, businessID, userID string) (bool, error) {
	_, err := h.books.membership(ctx, userID, businessID)
	if errors.Is(err, errAbsent) {
		return false, nil
	}
	return err == nil, err
}

// Organizations are those of the books.
func (h host) Organizations(ctx context.Context, userID string) ([]console.Organization, error) {
	return h.books.organizationsOf(ctx, userID)
}

// developmentPolicies open registration, which outside development mode needs a
// token, and give apps that belong to nobody to whoever connects them.
func developmentPolicies(b *books, cfg *oauthserver.Config) {
	cfg.Registration = func(r *http.Request) (string, error) {
		organization, err := b.firstOrganization(r.Context())
		if errors.Is(err, errAbsent) {
			return "", nil
		}
		return organization, err
	}
	cfg.Unowned = func(ctx context.Context, _ oauthserver.App, userID string) (string, error) {
		organization, err := b.organizationOf(ctx, userID)
		if errors.Is(err, errAbsent) {
			return "", nil
		}
		return organization, err
	}
	cfg.MaxApps = 10_000 // every anonymous registration is an app of the first organization
	cfg.Documents.AllowLoopback = true
}
