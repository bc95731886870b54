package oauthserver

import (
	"context"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/partner"
)

// Listings has what the marketplace says about apps.
type Listings interface {
	// AppListing returns what the live listing of an app says; the zero value when
	// there is none.
	AppListing(ctx context.Context, appID string) (AppListing, error)
}

// AppListing is the part of an app's listing that pages show beside its name. Every field may be
// empty.
type AppListing struct {
	IconPath   string // of an image on the app host
	Publisher  string
	TermsURL   string
	PrivacyURL string
}

// listing is that of an app, without an icon that is not on the app host and without
// links that are not https.
func (s *Server) listing(ctx context.Context, app partner.App) (AppListing, error) {
	if s.cfg.Listings == nil {
		return AppListing{}, nil
	}
	l, err := s.cfg.Listings.AppListing(ctx, app.ID)
	if err != nil {
		return AppListing{}, err
	}
	l.Publisher = text.Line(l.Publisher)
	if !isOwnPath(l.IconPath) {
		l.IconPath = ""
	}
	if !isSecureURL(l.TermsURL) {
		l.TermsURL = ""
	}
	if !isSecureURL(l.PrivacyURL) {
		l.PrivacyURL = ""
	}
	return l, nil
}

// isOwnPath reports whether a browser resolves a path on the host of its page.
func isOwnPath(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(path, `\`) && text.IsVisible(path)
}

func isSecureURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && text.IsVisible(raw)
}

// scopeViews are scopes in the words of a language. One that has left the catalog is
// shown by its name.
func (s *Server) scopeViews(l locale.Language, scopes identity.Scopes) []ScopeView {
	views := make([]ScopeView, 0, scopes.Len())
	for name := range scopes.All() {
		scope, ok := s.cfg.Scopes.Lookup(name)
		if !ok {
			scope = identity.Scope{Name: name, Description: name}
		}
		views = append(views, ScopeView{Name: name, Description: l.Scope(scope)})
	}
	return views
}
