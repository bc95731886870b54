// Package consent has the pages of the app host: where a person connects an app, for the browser,
// for a device and as a custom connection, and where people see, take over and end the
// connections of their business.
//
// Every decision is made twice over: the page is shown for a [connection], what this person may
// allow now, and the decision asks for the connection again and gives the store a check that
// runs under its locks. Nothing that the page said is trusted: the form names a stored request,
// which this browser opened, and has a token that binds it to the session.
//
// One approval, file by file: decide.go has the order, authorize.go the stored request,
// browser.go and csrf.go whose it is, connection.go and review.go what the person may allow.
package consent

import (
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/hostrequest"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/theme"
)

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	*core.Core
	cfg                  *core.Config
	errors               apierror.Writer
	apiOrigin, appOrigin string
	documents            *document.Directory
	themes               *theme.Source
	languages            *locale.Book
}

// New returns the pages of a server. It checks all that the pages look like, and returns
// everything that is wrong.
func New(c *core.Core) (*Server, error) {
	s := &Server{Core: c, cfg: &c.Config, errors: c.Errors, apiOrigin: c.APIOrigin, appOrigin: c.AppOrigin, documents: c.Documents}
	var wrongTheme, wrongLanguages, wrongPath error
	s.themes, wrongTheme = theme.NewSource(s.cfg.Theme, hostrequest.WithSession(s.cfg.Host.Session, s.cfg.ThemeFor), s.cfg.Logger)
	languages := s.cfg.Languages
	languages.Choose = hostrequest.WithSession(s.cfg.Host.Session, languages.Choose)
	s.languages, wrongLanguages = locale.NewBook(languages, s.cfg.Scopes, s.cfg.Logger)
	if path := s.cfg.BusinessPath; path != "" && !isOwnPath(path) {
		wrongPath = fmt.Errorf("BusinessPath %q is not a path on the app host, where people are sent; write it like /businesses", path)
	}
	return s, errors.Join(wrongTheme, wrongLanguages, wrongPath)
}
