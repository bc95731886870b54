package idempotency_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// IDEM-01: exactly one of 50 concurrent requests with the same key does the work. The
// others get its response, or an error that asks them to wait for it.
func TestKeyDoesTheWorkOnce(t *testing.T) {
	onBoth(t, func(s *shop) {
		done := 0
		for name, h := range s.bothWays() {
			replies := make([]response, 50)
			testdb.Race(len(replies), func(i int) { replies[i] = s.serve(h, keyed(name, "hello")) })
			done++
			s.wantInvoices(done)

			var first *response
			for i, got := range replies {
				if got.Status == http.StatusCreated && !got.isReplayed() {
					if first != nil {
						s.Errorf("%s: two first answers", name)
					}
					first = &replies[i]
				}
			}
			if first == nil {
				s.Fatalf("%s: no first answer", name)
			}
			for _, got := range replies {
				switch {
				case got.Response == first.Response:
				case got.Status == http.StatusConflict:
					got.is(http.StatusConflict, codes.IdempotencyConflict.Code)
					if got.Header.Get("Retry-After") != "1" {
						s.Errorf("%s: a conflict without Retry-After", name)
					}
				default:
					got.repeats(*first)
				}
			}
			s.serve(h, keyed(name, "hello")).repeats(*first)
			if first.Header.Get("Location") == "" || first.Header.Get("Content-Type") != "application/json" {
				s.Errorf("%s: first answer with %v", name, first.Header)
			}
		}
	})
}

// IDEM-01: while the first runs, 409; afterwards its response.
func TestConflictWhileTheFirstRuns(t *testing.T) {
	onBoth(t, func(s *shop) {
		var during response
		h := func(w http.ResponseWriter, r *http.Request) error {
			during = s.serve(s.create, keyed("k", "hello"))
			return s.create(w, r)
		}
		first := s.serve(h, keyed("k", "hello")).is(http.StatusCreated, "")
		during.is(http.StatusConflict, codes.IdempotencyConflict.Code)
		if got := during.Header.Get("Retry-After"); got != "1" {
			s.Errorf("Retry-After: %q", got)
		}
		s.endLeases() // a response needs none
		s.serve(s.create, keyed("k", "hello")).repeats(first)
		s.wantInvoices(1)
	})
}

// IDEM-01: another method, path, query or body is a mismatch, in every state of
// the key that is not new; another app or business has keys of its own.
func TestKeyBelongsToOneRequest(t *testing.T) {
	onBoth(t, func(s *shop) {
		others := map[string]*http.Request{
			"method":          keyedTo(http.MethodPut, "/invoices", "k", "hello"),
			"DELETE":          keyedTo(http.MethodDelete, "/invoices", "k", "hello"),
			"path":            keyedTo(http.MethodPost, "/invoices/", "k", "hello"),
			"query":           keyedTo(http.MethodPost, "/invoices?x", "k", "hello"),
			"body":            keyed("k", "hello "),
			"no body":         keyed("k", ""),
			"path, escaped":   keyedTo(http.MethodPost, "/%69nvoices", "k", "hello"),
			"between parts":   keyedTo(http.MethodPost, "/invoice", "k", "shello"),
			"query, moved":    keyedTo(http.MethodPost, "/invoices?hello", "k", ""),
			"query and split": keyedTo(http.MethodPost, "/invoices?h", "k", "ello"),
		}
		// The same path in another spelling is another request; nothing else of
		// this table is the first one.
		h := func(w http.ResponseWriter, r *http.Request) error {
			s.serve(s.create, keyed("k", "other")).is(http.StatusUnprocessableEntity, codes.IdempotencyMismatch.Code)
			return s.create(w, r)
		}
		s.serve(h, keyed("k", "hello")).is(http.StatusCreated, "")
		for name, r := range others {
			got := s.serve(s.create, r)
			if got.Status != http.StatusUnprocessableEntity {
				s.Errorf("%s: answered %d", name, got.Status)
			}
			got.is(http.StatusUnprocessableEntity, codes.IdempotencyMismatch.Code)
		}
		s.wantInvoices(1)

		otherApp, otherBusiness, otherUser := caller, caller, caller
		otherApp.AppID, otherBusiness.BusinessID, otherUser.UserID = "app_2", "biz_2", "usr_2"
		// BIZ-05: the key of a person with a session belongs to user and business.
		person := identity.Principal{UserID: "app_1", BusinessID: "biz_1", SignIn: identity.SignInSession}
		otherPerson, elsewhere := person, person
		otherPerson.UserID, elsewhere.BusinessID = "usr_2", "biz_2"
		for _, test := range []struct {
			by       identity.Principal
			replayed bool
		}{{otherApp, false}, {otherBusiness, false}, {otherUser, true}, {person, false}, {person, true}, {otherPerson, false}, {elsewhere, false}, {elsewhere, true}} {
			got := s.serve(s.create, as(keyed("k", "hello"), test.by)).is(http.StatusCreated, "")
			if got.isReplayed() != test.replayed {
				s.Errorf("%+v: replayed %v", test.by, got.isReplayed())
			}
		}
		s.wantInvoices(6)
	})
}

// IDEM-01: 24 hours from the request that gave the response, to the second.
func TestKeyLivesADay(t *testing.T) {
	onBoth(t, func(s *shop) {
		first := s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
		s.clock.Advance(24*time.Hour - time.Second)
		s.serve(s.create, keyed("k", "hello")).repeats(first)
		s.serve(s.create, keyed("k", "other")).is(http.StatusUnprocessableEntity, codes.IdempotencyMismatch.Code)
		s.tidied(1)
		s.wantInvoices(1)

		s.clock.Advance(time.Second)
		second := s.serve(s.create, keyed("k", "other")).is(http.StatusCreated, "")
		s.wantInvoices(2)
		s.serve(s.create, keyed("k", "other")).repeats(second)

		s.clock.Advance(24 * time.Hour)
		s.tidied(0)
	})
}

// A repetition is in the version that the first response was written in, and
// carries what else was to be kept.
func TestRepetitionKeepsHeaders(t *testing.T) {
	onBoth(t, func(s *shop) {
		h := func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("X-Kept", "kept")
			w.Header().Set("X-Dropped", "dropped")
			w.Header().Set("Etag", `"1"`)
			return s.create(w, r)
		}
		first := s.serve(h, keyed("k", "hello"))
		newer := caller
		newer.Version = "2027-01-01"
		again := s.serve(h, as(keyed("k", "hello"), newer))
		again.repeats(first)
		for name, want := range map[string]string{
			"Service-Version": caller.Version, "X-Kept": "kept", "X-Dropped": "", "Etag": `"1"`, "X-Content-Type-Options": "nosniff",
		} {
			if got := again.Header.Get(name); got != want {
				s.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}, func(cfg *idempotency.Config) {
		cfg.VersionHeader, cfg.KeepHeaders = "Service-Version", []string{"x-kept"}
	})
}

// Without a key every write is done; a read ignores the key.
func TestWithoutKey(t *testing.T) {
	onBoth(t, func(s *shop) {
		unknown := caller
		unknown.SignIn = ""
		nobody := keyed("k", "hello").WithContext(s.Context())
		done := 0
		for _, h := range s.bothWays() {
			for _, r := range []*http.Request{keyed("", "hello"), keyed("", "hello"), as(keyed("k", "hello"), unknown), nobody} {
				got := s.serve(h, r.Clone(r.Context())).is(http.StatusCreated, "")
				done++
				if got.isReplayed() || got.Header.Get("Location") == "" || !strings.HasPrefix(got.Body, `{"id":"`) {
					s.Errorf("answered %v %s", got.Header, got.Body)
				}
				r.Body = keyed("", "hello").Body
			}
		}
		s.wantInvoices(done)
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			for range 2 {
				r := keyedTo(method, "/invoices", "k", "")
				r.Header.Add("Idempotency-Key", "another")
				s.serve(s.createPlain, r).is(http.StatusCreated, "")
				done++
			}
		}
		s.wantInvoices(done)
	})
}

// What a write with a key costs, as Idempotency and Respond say.
func TestCost(t *testing.T) {
	onBoth(t, func(s *shop) {
		for _, test := range []struct {
			name                string
			handler             apierror.Handler
			request             *http.Request
			statements, commits int // those of the handler included: one and one
		}{
			{"without key, Answer", s.create, keyed("", "x"), 1, 1},
			{"without key, plain", s.createPlain, keyed("", "x"), 1, 1},
			{"with key, Answer", s.create, keyed("a", "x"), 3, 2},
			{"with key, plain", s.createPlain, keyed("b", "x"), 3, 3},
			{"repetition", s.create, keyed("a", "x"), 2, 1},
			{"mismatch", s.create, keyed("a", "y"), 2, 1},
		} {
			s.Tap.Reset()
			s.serve(test.handler, test.request)
			if statements, commits := s.Tap.Counts(); statements != test.statements || commits != test.commits {
				s.Errorf("%s: %d statements and %d commits, want %d and %d", test.name, statements, commits, test.statements, test.commits)
			}
		}
	})
}
