package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// cancelledCases: an operation under a context that has ended does nothing and returns the
// context's error, never an error such as ErrNotFound. An operation whose context ends
// while it runs happens as a whole or not at all.
var cancelledCases = []testCase[partnerkit.Store]{
	{"A cancelled context starts nothing", func(t *testing.T, e partnerkit.Store) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, o := range Operations() {
			act := NewScene(t, e).Prepare(t, o)[0]
			if _, err := act.Do(cancelled, e); !errors.Is(err, context.Canceled) {
				t.Errorf("%s under a cancelled context: %v, want context.Canceled", o.Name, err)
			}
			wantHappened(t, o, act, false)
			if err := act.alone(t.Context(), e); err != nil {
				t.Errorf("%s afterwards: %v", o.Name, err)
			}
			wantHappened(t, o, act, true)
		}
		for name, op := range others(t, e) {
			if err := op(cancelled); !errors.Is(err, context.Canceled) {
				t.Errorf("%s under a cancelled context: %v, want context.Canceled", name, err)
			}
			if err := op(t.Context()); err != nil {
				t.Errorf("%s afterwards: %v", name, err)
			}
		}
	}},
	{"An operation whose context ends is whole", func(t *testing.T, e partnerkit.Store) {
		for _, o := range Operations() {
			for range min(20, max(2, rounds()/10)) {
				act := NewScene(t, e).Prepare(t, o)[0]
				ctx, cancel := context.WithCancel(t.Context())
				var err error
				testdb.Race(2, func(i int) {
					if i == 0 {
						err = act.alone(ctx, e)
					} else {
						cancel()
					}
				})
				cancel()
				switch {
				case err == nil:
					wantHappened(t, o, act, true)
				case !errors.Is(err, context.Canceled):
					t.Errorf("%s returned %v", o.Name, err)
				default:
					if err := happenedWholly(t, act, e); err != nil {
						t.Errorf("%s: %v", o.Name, err)
					}
				}
			}
		}
	}},
}

// happenedWholly checks that an operation that failed has happened or not, and completes it.
func happenedWholly(t *testing.T, act Act, e partnerkit.Store) error {
	t.Helper()
	if not := Attempt(t, func(t testing.TB) { act.Check(t, false) }); not != nil {
		if wholly := Attempt(t, func(t testing.TB) { act.Check(t, true) }); wholly != nil {
			return fmt.Errorf("half done: %w", errors.Join(not, wholly))
		}
		return nil
	}
	if err := act.alone(t.Context(), e); err != nil {
		return err
	}
	return Attempt(t, func(t testing.TB) { act.Check(t, true) })
}

func wantHappened(t *testing.T, o Operation, act Act, want bool) {
	t.Helper()
	if err := Attempt(t, func(t testing.TB) { act.Check(t, want) }); err != nil {
		t.Errorf("%s: %v", o.Name, err)
	}
}

// others returns reads, and writes that are not in the table of operations, each of which
// works once.
func others(t *testing.T, e partnerkit.Store) map[string]func(ctx context.Context) error {
	t.Helper()
	f, hook := newOAuth(t, e), newWebhook(t, e)
	live := f.issued(t)
	assertion := newAssertion(noon)
	return map[string]func(ctx context.Context) error{
		"App": func(ctx context.Context) error { _, err := e.App(ctx, f.app.ID); return err },
		"AccessToken": func(ctx context.Context) error {
			_, err := e.AccessToken(ctx, live.AccessID, live.AccessDigest)
			return err
		},
		"UseAssertion": func(ctx context.Context) error {
			first, err := e.UseAssertion(ctx, assertion)
			return outcome(err, first)
		},
		"AddCalls": func(ctx context.Context) error {
			return e.AddCalls(ctx, callstore.Batch{Writer: "writer_cancelled", Number: 1, At: noon, Buckets: []callstore.Bucket{{AppID: f.app.ID, Hour: noon}}})
		},
		"Events": func(ctx context.Context) error {
			_, err := e.Events(ctx, eventstore.Query{BusinessID: f.business, Types: []string{"a.b"}, Limit: 1})
			return err
		},
		"CreateWebhook": func(ctx context.Context) error { return e.CreateWebhook(ctx, hook.another(noon), maxWebhooks) },
		"EraseUser": func(ctx context.Context) error {
			_, err := e.EraseUser(ctx, oauthstore.EraseUser{UserID: "usr_erased", Now: noon, Limit: 1})
			return err
		},
	}
}

// issuedBy returns an error unless tokens were issued.
func issuedBy(got oauthstore.IssueResult, err error) error {
	return outcome(err, got.Outcome == oauthstore.Issued)
}
