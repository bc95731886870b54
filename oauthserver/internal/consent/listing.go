package consent

import (
	"context"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// listing is that of an app, without an icon that is not on the app host and without
// links that are not https.
func (s *Server) listing(ctx context.Context, app partner.App) (pages.AppListing, error) {
	if s.cfg.Listings == nil {
		return pages.AppListing{}, nil
	}
	l, err := s.cfg.Listings.AppListing(ctx, app.ID)
	if err != nil {
		return pages.AppListing{}, err
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
func (s *Server) scopeViews(l locale.Language, scopes identity.Scopes) []pages.ScopeView {
	views := make([]pages.ScopeView, 0, scopes.Len())
	for name := range scopes.All() {
		scope, ok := s.cfg.Scopes.Lookup(name)
		if !ok {
			scope = identity.Scope{Name: name, Description: name}
		}
		views = append(views, pages.ScopeView{Name: name, Description: l.Scope(scope)})
	}
	return views
}
