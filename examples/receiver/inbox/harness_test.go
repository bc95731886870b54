package inbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const secret = "whsec_test"

// worker is the work: it notes what it was given, and fails when told to.
type worker struct {
	mu     sync.Mutex
	done   []string
	times  []time.Time
	refuse func(e inbox.Event) error
}

func (w *worker) work(_ context.Context, e inbox.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times = append(w.times, time.Now())
	if w.refuse != nil {
		if err := w.refuse(e); err != nil {
			return err
		}
	}
	w.done = append(w.done, e.ID)
	return nil
}

func (w *worker) worked() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.done, " ")
}

// harness is an inbox in a file of the test's.
type harness struct {
	*inbox.Inbox
	path    string
	handler http.Handler
}

func open(t *testing.T, path string, work func(context.Context, inbox.Event) error) *harness {
	t.Helper()
	box, err := inbox.Open(t.Context(), inbox.Config{Path: path, Work: work, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	return &harness{box, path, box.Handler(verifier)}
}

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "in box?#%.db") // special characters that a path may have
}

// run lets the inbox work until the test has seen enough.
func (k *harness) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// drain waits until nothing waits any more.
func (k *harness) drain(t *testing.T) {
	t.Helper()
	for {
		n, err := k.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func delivery(event string) string {
	return fmt.Sprintf(`{"id": "dlv_%s", "eventId": "evt_%s", "type": "invoice.created", "apiVersion": "2026-09-01", "businessId": "biz_1", "created": 1767225600, "data": {"id": "inv_1"}}`, event, event)
}

func sign(t *testing.T, body string) string {
	t.Helper()
	signer, err := signature.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer.Sign(time.Now(), []byte(body))
}

// post sends a body with a signature, and returns the status.
func (k *harness) post(t *testing.T, body, header string) int {
	t.Helper()
	r, w := httptest.NewRequest(http.MethodPost, "/webhooks", strings.NewReader(body)), httptest.NewRecorder()
	if header != "" {
		r.Header.Set(signature.Header, header)
	}
	k.handler.ServeHTTP(w, r)
	return w.Code
}

func (k *harness) send(t *testing.T, body string, want int) {
	t.Helper()
	if got := k.post(t, body, sign(t, body)); got != want {
		t.Fatalf("%s: %d, want %d", body, got, want)
	}
}
