package listener

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// receive accepts requests from any client, and processes those that the service signed.
func (l *Listener) receive(w http.ResponseWriter, r *http.Request) {
	signed := false
	l.verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed = true
		l.take(w, r)
	})).ServeHTTP(w, r)
	if !signed {
		l.cfg.Logger.Warn("request without a valid signature rejected", "from", r.RemoteAddr)
	}
}

func (l *Listener) take(w http.ResponseWriter, r *http.Request) {
	d := Delivery{Header: r.Header.Clone(), Status: http.StatusNoContent}
	var err error
	if d.Body, err = io.ReadAll(r.Body); err == nil {
		err = json.Unmarshal(d.Body, &d.Delivery)
	}
	if err != nil {
		http.Error(w, "not a delivery", http.StatusBadRequest)
		return
	}
	var said []byte
	if l.cfg.Forward != "" {
		d.Status, said = l.forward(r.Context(), d)
	}
	select {
	case l.got <- d:
	case <-l.closing:
		d.Status, said = http.StatusServiceUnavailable, nil // for the next listener
	case <-r.Context().Done():
		return
	}
	w.WriteHeader(d.Status)
	_, _ = io.Copy(w, bytes.NewReader(said))
}
