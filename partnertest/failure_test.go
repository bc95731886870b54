package partnertest_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

// failing is a test that is expected to fail: it records how.
type failing struct {
	testing.TB
	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

func (f *failing) Helper()              {}
func (f *failing) Output() io.Writer    { return io.Discard }
func (f *failing) Cleanup(clean func()) { f.cleanups = append(f.cleanups, clean) }

func (f *failing) Errorf(text string, a ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors = append(f.errors, fmt.Sprintf(text, a...))
}

func (f *failing) Fatalf(text string, a ...any) {
	f.Errorf(text, a...)
	runtime.Goexit()
}

func (f *failing) Fatal(a ...any) { f.Fatalf("%s", fmt.Sprint(a...)) }

// failure runs a test and returns how it failed.
func failure(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(f.cleanups) - 1; i >= 0; i-- {
				f.cleanups[i]()
			}
		}()
		test(f)
	}()
	<-done
	return strings.Join(f.errors, "\n")
}

// deliver records an event for a receiver after a change to it.
func deliver(h *partnertest.Harness, change func(r *partnertest.Receiver)) *partnertest.Receiver {
	r := h.Receiver(h.Connect(partnertest.ConnectOptions{}), "invoice.paid")
	change(r)
	record(h, "invoice.paid")
	return r
}

func unchanged(*partnertest.Receiver) {}

func TestFailures(t *testing.T) {
	t.Parallel()
	edit := func(change func(*partnerkit.Config)) func(testing.TB) {
		return func(t testing.TB) { partnertest.New(t, change) }
	}
	with := func(test func(h *partnertest.Harness)) func(testing.TB) {
		return func(t testing.TB) { test(partnertest.New(t)) }
	}
	for name, test := range map[string]struct {
		test func(testing.TB)
		want string
	}{
		"clock":   {edit(func(c *partnerkit.Config) { c.Clock = clock.System{} }), "Config.Clock"},
		"origin":  {edit(func(c *partnerkit.Config) { c.APIURL = "https://api.example.com" }), "Config.APIURL"},
		"host":    {edit(func(c *partnerkit.Config) { c.Host = nil }), "Config.Host"},
		"keyring": {edit(func(c *partnerkit.Config) { c.Keyring = nil }), "Config.Keyring"},
		"scope": {with(func(h *partnertest.Harness) {
			h.Connect(partnertest.ConnectOptions{Scopes: []string{"no such scope"}})
		}), "ConnectOptions.Scopes"},
		"user": {with(func(h *partnertest.Harness) {
			h.Connect(partnertest.ConnectOptions{UserID: "usr_unknown"})
		}), "the consent page was not shown: 403"},
		"business": {with(func(h *partnertest.Harness) {
			h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: "biz_guest", Name: "Guest House"})
			h.Connect(partnertest.ConnectOptions{BusinessID: "biz_guest"})
		}), "the decision was rejected: 403"},
		"status": {with(func(h *partnertest.Harness) {
			h.Connect(partnertest.ConnectOptions{}).Get("/nothing").Want(http.StatusOK)
		}), "want 200"},
		"code": {with(func(h *partnertest.Harness) {
			h.Connect(partnertest.ConnectOptions{}).Get("/nothing").WantCode(http.StatusForbidden, "OTHER")
		}), `want the code "OTHER"`},
		"body": {with(func(h *partnertest.Harness) {
			h.Connect(partnertest.ConnectOptions{}).Get("/nothing").Text("absent")
		}), "absent is not a string"},
		"no delivery": {with(func(h *partnertest.Harness) {
			h.Receiver(h.Connect(partnertest.ConnectOptions{}), "invoice.paid").Next()
		}), "no delivery arrived"},
		"delivery": {with(func(h *partnertest.Harness) { deliver(h, unchanged).ExpectNone() }), "want none"},
		"type":     {with(func(h *partnertest.Harness) { deliver(h, unchanged).Expect("invoice.sent") }), "want invoice.sent"},
		"signature": {with(func(h *partnertest.Harness) {
			deliver(h, func(r *partnertest.Receiver) { r.SetSecret("whsec_other") })
			h.Settle()
		}), "signature does not match"},
		"event type": {with(func(h *partnertest.Harness) { h.Receiver(h.Connect(partnertest.ConnectOptions{}), "no.such.event") }), "add the webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := failure(t, test.test); !strings.Contains(got, test.want) {
				t.Errorf("failed with %q, want %q", got, test.want)
			}
		})
	}
}
