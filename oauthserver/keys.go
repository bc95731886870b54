package oauthserver

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

func (s *Server) serveJWKS(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]any{"keys": []any{}})
}
