package idempotency_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// failures are ways in which a handler ends without having done its work, or
// after it.
var failures = map[string]func(http.ResponseWriter) error{
	"a 400":             func(http.ResponseWriter) error { return apierror.Invalid("no") },
	"a 429":             func(http.ResponseWriter) error { return apierror.TooManyRequests(time.Second) },
	"a 500":             func(http.ResponseWriter) error { return errors.New("broken") },
	"a panic":           func(http.ResponseWriter) error { panic("broken") },
	"an aborted answer": func(http.ResponseWriter) error { panic(http.ErrAbortHandler) },
	"a begun answer": func(w http.ResponseWriter) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("broken")
	},
}

// serveRecovered is serve for handlers that may abort.
func (s *shop) serveRecovered(h apierror.Handler, r *http.Request) (got response) {
	s.Helper()
	defer func() {
		if value := recover(); value != nil && value != http.ErrAbortHandler {
			panic(value)
		}
	}()
	return s.serve(h, r)
}

// IDEM-02: what was not done is not kept, and a corrected payload can use the key.
func TestFailureFreesTheKey(t *testing.T) {
	onBoth(t, func(s *shop) {
		done := 0
		for name, fail := range failures {
			s.midway = fail
			s.serveRecovered(s.create, keyed(name, "wrong"))
			s.wantInvoices(done)
			s.midway = nil
			got := s.serve(s.create, keyed(name, "corrected")).is(http.StatusCreated, "")
			if got.isReplayed() {
				s.Errorf("%s: was kept", name)
			}
			done++
		}
		for _, h := range s.bothWays() {
			s.serve(h, keyed("invalid", "invalid note")).is(http.StatusBadRequest, "")
			s.serve(h, keyed("invalid", "invalid note too")).is(http.StatusBadRequest, "")
		}
		s.wantInvoices(done)
	})
}

// IDEM-02: a failure that the handler writes itself, as an http.Handler does, is not kept
// either, even if it follows Respond in a transaction that was rolled back.
func TestWrittenFailureFreesTheKey(t *testing.T) {
	onBoth(t, func(s *shop) {
		for _, status := range []int{http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError} {
			for _, key := range []string{"k", ""} {
				for _, responses := range []bool{false, true} {
					got := s.serve(func(w http.ResponseWriter, r *http.Request) error {
						tx, err := s.BeginTx(r.Context())
						if err != nil {
							return err
						}
						defer tx.Rollback()
						if responses {
							if err := idempotency.Respond(r.Context(), tx, http.StatusCreated, "done"); err != nil {
								return err
							}
						}
						http.Error(w, "{}", status)
						return nil
					}, keyed(key, "wrong"))
					if got.Status != status || got.Body != "{}\n" {
						s.Errorf("answered %d %q, want %d", got.Status, got.Body, status)
					}
				}
			}
		}
		s.serve(s.create, keyed("k", "corrected")).is(http.StatusCreated, "")
	})
}

// IDEM-02: after the commit, a repetition always gets the response.
func TestFailureAfterTheCommit(t *testing.T) {
	onBoth(t, func(s *shop) {
		after := map[string]func(http.ResponseWriter) error{
			"a written 500": func(w http.ResponseWriter) error { http.Error(w, "{}", http.StatusInternalServerError); return nil },
		}
		for name, fail := range failures {
			after[name] = fail
		}
		done := 0
		for name, fail := range after {
			s.afterCommit = fail
			if got := s.serveRecovered(s.create, keyed(name, "hello")); got.Response != nil && got.Status < 400 {
				s.Errorf("%s: answered %d", name, got.Status)
			}
			done++
			s.afterCommit = nil
			got := s.serve(s.create, keyed(name, "hello")).is(http.StatusCreated, "")
			if !got.isReplayed() || got.Header.Get("Location") == "" {
				s.Errorf("%s: not repeated, or without Location", name)
			}
			s.wantInvoices(done)
		}
	})
}

// A client that leaves frees the key when nothing was done.
func TestClientLeaves(t *testing.T) {
	onBoth(t, func(s *shop) {
		ctx, leave := context.WithCancel(s.Context())
		s.midway = func(http.ResponseWriter) error { leave(); return nil }
		r := keyed("k", "hello")
		s.serve(s.create, as(r.WithContext(ctx), caller))
		s.wantInvoices(0)
		s.midway = nil
		s.serve(s.create, keyed("k", "other")).is(http.StatusCreated, "")
		s.wantInvoices(1)
	})
}

// A fault at any statement, a client that leaves there, and a lost response to any
// commit: the same request again ends with one invoice and one response.
func TestEveryFault(t *testing.T) {
	onBoth(t, func(s *shop) {
		done := 0
		for _, fault := range []testdb.Fault{testdb.FaultError, testdb.FaultCancel, testdb.FaultLostCommit} {
			struck := true
			for n := 1; struck; n++ {
				key := string(fault) + string(rune('0'+n))
				ctx, cancel := s.Tap.Cancellable(s.Context())
				s.Tap.Arm(fault, n)
				first := s.serve(s.create, as(keyed(key, "hello").WithContext(ctx), caller))
				struck = s.Tap.Struck()
				s.Tap.Reset()
				cancel()
				if struck && fault != testdb.FaultCancel && first.Status != http.StatusInternalServerError {
					s.Errorf("%s at %d: answered %d", fault, n, first.Status)
				}
				again := s.serve(s.create, keyed(key, "hello")).is(http.StatusCreated, "")
				if first.Status == http.StatusCreated {
					again.repeats(first)
				}
				s.serve(s.create, keyed(key, "hello")).is(http.StatusCreated, "")
				done++
				s.wantInvoices(done)
				if n > 20 {
					s.Fatal("it still strikes")
				}
			}
		}
		if done < 3+3+2+3 { // each statement twice, each commit, and each fault once without striking
			s.Errorf("only %d trials", done)
		}
	})
}

// The reply to the commit itself is lost: the work is done, the client gets an internal
// error, and a retry gets the stored response.
func TestLostCommit(t *testing.T) {
	onBoth(t, func(s *shop) {
		s.midway = func(http.ResponseWriter) error { s.Tap.Arm(testdb.FaultLostCommit, 1); return nil }
		s.serve(s.create, keyed("k", "hello")).is(http.StatusInternalServerError, "")
		s.midway = nil
		s.wantInvoices(1)
		got := s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
		if want := "/invoices/" + s.invoices()[0]; !got.isReplayed() || got.Header.Get("Location") != want {
			s.Errorf("Location %q, want %q; replayed %v", got.Header.Get("Location"), want, got.isReplayed())
		}
	})
}

// A host that runs its transaction again after a lost commit would do the work
// twice; the key has its response already and does not let it.
func TestTransactionIsRunAgain(t *testing.T) {
	onBoth(t, func(s *shop) {
		again := func(w http.ResponseWriter, r *http.Request) error {
			if err := s.create(httptest.NewRecorder(), r.Clone(r.Context())); err == nil {
				return nil
			}
			r.Body = keyed("", "hello").Body
			return s.create(w, r)
		}
		attempts := 0
		s.midway = func(http.ResponseWriter) error {
			if attempts++; attempts == 1 {
				return errors.New("serialization failure")
			}
			return nil
		}
		s.serve(again, keyed("rolled back", "hello")).is(http.StatusCreated, "")
		s.wantInvoices(1)

		attempts = 0
		s.midway = func(http.ResponseWriter) error {
			if attempts++; attempts == 1 {
				s.Tap.Arm(testdb.FaultLostCommit, 1)
			}
			return nil
		}
		s.serve(again, keyed("committed", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.serve(again, keyed("committed", "hello")).is(http.StatusCreated, "")
		s.wantInvoices(2)
	})
}
