package sandbox

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
)

// readyWithin is how long the database may take to say that it is there.
const readyWithin = 2 * time.Second

func serveHealth(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// serveReady asks the database.
func (s *server) serveReady(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	if err := s.store.Ping(ctx); err != nil {
		return apierror.Unavailable(err)
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
