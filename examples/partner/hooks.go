package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// hooks is the door for webhooks: it can be shut, to miss some.
type hooks struct {
	verifier *signature.Verifier
	out      *transcript
	shut     atomic.Bool
	missed   chan struct{} // hears of what came while it was shut
}

func newHooks(ctx context.Context, o options, apiURL string, out *transcript) (*hooks, error) {
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{o.webhookSecret}, Now: inbox.ServerTime(ctx, apiURL)})
	return &hooks{verifier: verifier, out: out, missed: make(chan struct{}, 1)}, err
}

// noted writes what came and what it was answered into the transcript.
func (h *hooks) noted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, shut := &statusWriter{ResponseWriter: w, status: http.StatusOK}, h.shut.Load()
		if shut {
			status.WriteHeader(http.StatusServiceUnavailable)
		} else {
			next.ServeHTTP(status, r)
		}
		h.out.line("service", r.Method, r.URL.Path, status.status, r.Header.Get("X-Webhook-Event"))
		if shut { // and after its line: the story goes on
			select {
			case h.missed <- struct{}{}:
			default:
			}
		}
	})
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
