//go:build linux

package crash_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// flaky is the receiver that rejects the first attempt of every delivery.
const flaky = "flaky"

// receiver takes deliveries for all apps; the path names the webhook.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	keys  map[string]*signature.Verifier  // by webhook's name, where it is not the usual one
	got   map[string]map[string]delivered // by webhook's name, then by event
	ids   map[string]bool                 // of deliveries
	seen  map[string]bool                 // by the flaky one
	wrong []string

	posts atomic.Int64
}

// delivered is a delivery that got 2xx while its sender waited.
type delivered struct {
	EventID  *string
	Type     string
	Business string `json:"businessId"`
	Data     json.RawMessage
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{keys: map[string]*signature.Verifier{}, got: map[string]map[string]delivered{}, ids: map[string]bool{}, seen: map[string]bool{}}
	r.knows("", hookSecret)
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP accepts deliveries with a valid signature of the webhook. A delivery does not
// count if its sender was killed before the response.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	name := strings.TrimPrefix(req.URL.Path, "/")
	id := req.Header.Get("X-Webhook-Id")
	if err := r.verifier(name).Verify(req.Header.Get(signature.Header), body); err != nil {
		r.complain(name + ": " + err.Error())
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	select {
	case <-req.Context().Done():
		return
	case <-time.After(time.Duration(len(body)%10) * time.Millisecond):
	}
	r.posts.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == flaky && !r.seen[id] {
		r.seen[id] = true
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	var d delivered
	if err := json.Unmarshal(body, &d); err != nil {
		r.wrong = append(r.wrong, name+": "+err.Error())
		return
	}
	r.ids[id] = true
	if d.EventID != nil {
		if r.got[name] == nil {
			r.got[name] = map[string]delivered{}
		}
		r.got[name][*d.EventID] = d
	}
	w.WriteHeader(http.StatusNoContent)
}

// knows sets the secret of a webhook.
func (r *receiver) knows(name, secret string) {
	// The clock of the platform is moved at the end.
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{secret}, Tolerance: 24 * time.Hour})
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys[name] = verifier
}

func (r *receiver) verifier(name string) *signature.Verifier {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.keys[name]; v != nil {
		return v
	}
	return r.keys[""]
}

func (r *receiver) complain(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, text)
}

func (r *receiver) complaints() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wrong)
}

// of returns the deliveries of one webhook, by event.
func (r *receiver) of(name string) map[string]delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := make(map[string]delivered, len(r.got[name]))
	for id, d := range r.got[name] {
		copied[id] = d
	}
	return copied
}

// has reports whether a delivery has arrived.
func (r *receiver) has(deliveryID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[deliveryID]
}
