package partnerkit

import (
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/hostrequest"
	"github.com/partnerkit/partnerkit/internal/reference"
)

// Reference returns the pages of an API reference: what an OpenAPI 3.1 document in JSON
// describes, by topic, with a search and samples in several languages. Serve them on the app
// host at path, such as /openapi, and everything below it, by Config.AppRoutes. A nil document
// means [Platform.OpenAPI]; give a document of your own if it describes more than that. A button
// leads to the externalDocs of the document. The pages have Config.Theme. Everybody may read
// them, signed in or not, but a suspended user gets a 403.
//
// Pages of the reference send requests to the API host from the browser, with an access token
// that a person enters and without cookies.
//
// It returns an error for a document that is not OpenAPI in JSON, and for a path that pages
// cannot be mounted at.
func (p *Platform) Reference(path string, document []byte) (http.Handler, error) {
	if document == nil {
		document = p.describe()
	}
	console := ""
	if p.console != nil {
		console = consolePath
	}
	pages, err := reference.New(reference.Config{
		Document: document, Prefix: path, Service: p.cfg.Service, API: p.cfg.APIURL, Console: console, Person: p.reader,
		Theme: p.cfg.Theme, ThemeFor: hostrequest.WithSession(p.cfg.Host.Session, p.cfg.ThemeFor), Logger: p.cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("partnerkit: %w", err)
	}
	return pages, nil
}

// reader returns the name of the person who is signed in, for a page that everybody may read.
func (p *Platform) reader(r *http.Request) (string, error) {
	session, ok, err := p.cfg.Host.Session(r)
	if err != nil || !ok {
		return "", err
	}
	status, err := p.cfg.Store.UserStatus(r.Context(), session.UserID)
	if err != nil {
		return "", err
	}
	if status == identity.UserSuspended {
		return "", apierror.Forbidden("This account is suspended")
	}
	return session.DisplayName, nil
}
