package inbox

import (
	"errors"
	"io"
	"net/http"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// Handler takes deliveries: what the verifier accepts is kept, and only then
// responded with 204, as is what came before. The work begins afterwards. A full
// inbox responds with 503 and a file that cannot be written 500: the sender comes back.
func (i *Inbox) Handler(verifier *signature.Verifier) http.Handler {
	return verifier.Handler(http.HandlerFunc(i.receive))
}

func (i *Inbox) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // the verifier has read and bounded it
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	e, err := parseDelivery(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fresh, err := i.keep(r.Context(), []Event{e}, nil)
	switch {
	case errors.Is(err, ErrFull):
		i.cfg.Logger.WarnContext(r.Context(), "refused: the inbox is full", "event", e.ID)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		i.cfg.Logger.ErrorContext(r.Context(), "storing an event failed", "event", e.ID, "err", err)
		http.Error(w, "cannot keep the event", http.StatusInternalServerError)
	default:
		i.cfg.Logger.InfoContext(r.Context(), "received", "event", e.ID, "type", e.Type, "new", fresh == 1)
		w.WriteHeader(http.StatusNoContent)
	}
}
