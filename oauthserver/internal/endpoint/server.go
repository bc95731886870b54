// Package endpoint has the endpoints of the API host: token, revocation, introspection, device
// authorization, registration, and the documents by which clients find them. Each request is
// read once as a call, counted against limits and lockouts, and then authenticated; serveToken
// has the order of the token endpoint, and each grant type a file of its own.
package endpoint

import (
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
)

// Server serves the endpoints. It is safe for concurrent use.
type Server struct {
	*core.Core
	cfg                  *core.Config
	errors               apierror.Writer
	apiOrigin, appOrigin string
	keys                 *sessiontoken.Keys
	documents            *document.Directory

	foreignSlots chan struct{} // of checks of foreign digests
}

// New returns the endpoints of a server.
func New(c *core.Core) *Server {
	return &Server{
		Core: c, cfg: &c.Config, errors: c.Errors, apiOrigin: c.APIOrigin, appOrigin: c.AppOrigin,
		keys: c.Keys, documents: c.Documents, foreignSlots: newForeignSlots(),
	}
}
