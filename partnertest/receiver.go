package partnertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// Delivery is one attempt of a delivery that arrived at a [Receiver].
type Delivery struct {
	signature.Delivery // the body
	Header             http.Header
	Raw                []byte // the bytes of the body
}

// Receiver is the endpoint of a webhook, on loopback. It checks the signature of every
// request, which fails the test when it is wrong, and responds with 200 unless
// [Receiver.Respond] says otherwise. Make one with [Harness.Receiver].
type Receiver struct {
	URL       string
	AppID     string
	WebhookID string

	h       *Harness
	mu      sync.Mutex
	secret  string
	arrived []Delivery
	taken   int   // how many of them Next has returned
	status  []int // of the next responses
}

// Receiver adds a webhook for these types of events to an app and receives it until the
// test ends.
func (h *Harness) Receiver(app *App, types ...string) *Receiver {
	h.t.Helper()
	r := &Receiver{h: h, AppID: app.ID}
	server := httptest.NewServer(r)
	h.t.Cleanup(server.Close)
	r.URL = server.URL
	hook, secret, err := h.Webhooks().Create(h.t.Context(), webhooks.NewWebhook{AppID: app.ID, URL: r.URL, Events: types, Verified: true})
	if err != nil {
		h.t.Fatalf("partnertest: add the webhook: %v", err)
	}
	r.WebhookID, r.secret = hook.ID, secret
	return r
}

// SetSecret changes the secret that signatures are checked with, for tests that rotate
// it.
func (r *Receiver) SetSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// Respond chooses the status of the next responses, one each. Later requests get 200
// again.
func (r *Receiver) Respond(statuses ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = statuses
}

// ServeHTTP receives a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.h.t.Errorf("partnertest: read a webhook: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := Delivery{Header: request.Header, Raw: body}
	if err := r.verify(&d); err != nil {
		r.h.t.Errorf("partnertest: webhook %s: %v", body, err)
	}
	r.arrived = append(r.arrived, d)
	status := http.StatusOK
	if len(r.status) > 0 {
		status, r.status = r.status[0], r.status[1:]
	}
	w.WriteHeader(status)
}

func (r *Receiver) verify(d *Delivery) error {
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{r.secret}, Now: r.h.Clock.Now})
	if err != nil {
		return err
	}
	if err := verifier.Verify(d.Header.Get(signature.Header), d.Raw); err != nil {
		return err
	}
	return json.Unmarshal(d.Raw, &d.Delivery)
}

// Next returns the next delivery, in order of arrival, after [Harness.Settle]. It fails
// the test and ends it when there is none.
func (r *Receiver) Next() Delivery {
	r.h.t.Helper()
	d, ok := r.take()
	if !ok {
		r.h.t.Fatalf("partnertest: no delivery arrived after the first %d", r.Count())
	}
	return d
}

// Expect is Next for a delivery of one type of event.
func (r *Receiver) Expect(eventType string) Delivery {
	r.h.t.Helper()
	d := r.Next()
	if d.Type != eventType {
		r.h.t.Fatalf("partnertest: %s arrived, want %s: %s", d.Type, eventType, d.Raw)
	}
	return d
}

// ExpectNone fails the test when a delivery has arrived that Next has not returned.
func (r *Receiver) ExpectNone() {
	r.h.t.Helper()
	if d, ok := r.take(); ok {
		r.h.t.Errorf("partnertest: a delivery arrived, want none: %s", d.Raw)
	}
}

// Count returns how many requests have arrived.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived)
}

func (r *Receiver) take() (Delivery, bool) {
	r.h.t.Helper()
	r.h.Settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == len(r.arrived) {
		return Delivery{}, false
	}
	r.taken++
	return r.arrived[r.taken-1], true
}
