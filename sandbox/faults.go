package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/webhooks"
)

// webhookRoute is the route of faults of deliveries.
const webhookRoute = "webhook"

// Bounds of a fault.
const (
	maxFaults     = 1000 // that wait for a call
	maxFaultTimes = 1000
	maxFaultDelay = time.Minute
)

// fault is what goes wrong with the next calls of a route.
type fault struct {
	ID           string `json:"id"`
	Route        string `json:"route"`
	Times        int    `json:"times"` // calls that are left
	Status       int    `json:"status,omitempty"`
	DelayMs      int    `json:"delayMs,omitempty"`
	LoseResponse bool   `json:"loseResponse,omitempty"`

	calls *http.ServeMux // the calls of Route; nil for deliveries
}

func (f fault) delay() time.Duration { return time.Duration(f.DelayMs) * time.Millisecond }

func (f fault) isOf(r *http.Request) bool {
	if f.calls == nil {
		return false
	}
	_, pattern := f.calls.Handler(r)
	return pattern != ""
}

// faults are the faults of development mode. The oldest one of a route counts first. The zero
// value has none.
type faults struct {
	mu  sync.Mutex
	all []fault
}

func (f *faults) add(one fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) == maxFaults {
		return false
	}
	f.all = append(f.all, one)
	return true
}

func (f *faults) list() []fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]fault{}, f.all...)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = nil
}

// take returns the fault of the next call that matches, and counts the call. Without one it
// returns the zero value.
func (f *faults) take(matches func(fault) bool) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.all, matches)
	if i < 0 {
		return fault{}
	}
	taken := f.all[i]
	if f.all[i].Times--; f.all[i].Times == 0 {
		f.all = slices.Delete(f.all, i, i+1)
	}
	return taken
}

// ofDelivery returns the fault of the next attempt of a delivery.
func (f *faults) ofDelivery() webhooks.Fault {
	one := f.take(func(f fault) bool { return f.Route == webhookRoute })
	return webhooks.Fault{Status: one.Status, Delay: one.delay(), LoseResponse: one.LoseResponse}
}

// faulty serves next with the faults of its routes.
func (s *server) faulty(next http.Handler) http.Handler {
	if !s.isDev {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := s.faults.take(func(f fault) bool { return f.isOf(r) })
		if one.DelayMs > 0 {
			select {
			case <-r.Context().Done():
			case <-time.After(one.delay()):
			}
		}
		switch {
		case one.Status != 0:
			s.fail(w, r, one.Status)
		case one.LoseResponse:
			next.ServeHTTP(lostResponse{http.Header{}}, r)
			panic(http.ErrAbortHandler) // closes the connection
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fail responds with a status, in the shape of the route's errors.
func (s *server) fail(w http.ResponseWriter, r *http.Request, status int) {
	entry := apierror.Entry{Status: status, Message: "a fault of development mode: " + http.StatusText(status)}
	err := entry.New()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		err = err.WithRetryAfter(time.Second)
	}
	write := s.errors.WriteStandard
	if strings.HasPrefix(r.URL.Path, "/oauth/") && r.URL.Path != "/oauth/authorize" {
		write = s.errors.WriteOAuth
	}
	write(statusWriter{w, status}, r, err)
}

// statusWriter writes one status: the shape of OAuth has no status of its own for most errors.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w statusWriter) WriteHeader(int) { w.ResponseWriter.WriteHeader(w.status) }

// lostResponse is a response that nobody receives.
type lostResponse struct{ header http.Header }

func (l lostResponse) Header() http.Header         { return l.header }
func (l lostResponse) WriteHeader(int)             {}
func (l lostResponse) Write(p []byte) (int, error) { return len(p), nil }
