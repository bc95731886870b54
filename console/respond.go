package console

import "net/http"

// noContent responds to a call after which there is nothing to show.
func noContent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}
