package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// CLI-01, REF-05: fifty goroutines find the token expired at the same moment, by
// their own clock or by a 401; one of them refreshes, and the family lives.
func TestOneRefreshForAll(t *testing.T) {
	t.Parallel()
	const callers = 50
	for name, expire := range map[string]func(*harness) error{
		"by the 401": func(k *harness) error {
			k.Dev("clock", `{"advanceSeconds": 7200}`, nil)
			return nil
		},
		"a minute early": func(k *harness) error {
			late := k.first
			late.ExpiresAt = time.Now().Add(59 * time.Second)
			return k.file.Save(late)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newHarness(t)
			if err := expire(k); err != nil {
				t.Fatal(err)
			}
			source, api := k.start(t, k.file)
			before := k.wire.requests("/oauth/token")
			var ready, calls sync.WaitGroup
			ready.Add(callers)
			for range callers {
				calls.Go(func() {
					ready.Done()
					ready.Wait()
					if err := api.Do(t.Context(), profile); err != nil {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			if n := k.wire.requests("/oauth/token") - before; n != 1 {
				t.Errorf("%d refreshes, want 1", n)
			}
			stored, _, err := k.file.Load()
			if held, _ := source.Tokens(); err != nil || stored.Access != held.Access || stored.Refresh == k.first.Refresh {
				t.Errorf("what is stored is not what is used: %v", err)
			}
			if _, err := k.app.Refresh(t.Context(), stored.Refresh); err != nil {
				t.Errorf("the family is dead: %v", err)
			}
		})
	}
}

// CLI-01: a token that is good for more than a minute is used as it is.
func TestNoRefreshTooEarly(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	late := k.first
	late.ExpiresAt = time.Now().Add(5 * time.Minute)
	if err := k.file.Save(late); err != nil {
		t.Fatal(err)
	}
	source, _ := k.start(t, k.file)
	if token, err := source.Token(t.Context(), ""); err != nil || token != k.first.Access {
		t.Errorf("another token, or %v", err)
	}
}

// CLI-01: on a 401 there is one refresh, and a second 401 is the response.
func TestSecondRefusalCounts(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	_, api := k.start(t, k.file)
	calls := 0
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer refusing.Close()
	api.URL = refusing.URL
	before := k.wire.requests("/oauth/token")
	var refused *client.Error
	if err := api.Do(t.Context(), profile); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("error %v, want a 401", err)
	}
	if n := k.wire.requests("/oauth/token") - before; calls != 2 || n != 1 {
		t.Errorf("%d calls and %d refreshes, want 2 and 1", calls, n)
	}
}

// CLI-01: invalid_grant is not tried again: the tokens are forgotten, and the
// business is asked.
func TestDeadGrant(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	source, api := k.start(t, k.file)
	k.Dev("installations/revoke-access", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`, nil)
	before := k.wire.requests("/oauth/token")
	for range 3 {
		if err := api.Do(t.Context(), profile); !errors.Is(err, client.ErrReauthorize) {
			t.Fatalf("error %v, want ErrReauthorize", err)
		}
	}
	if n := k.wire.requests("/oauth/token") - before; n != 1 {
		t.Errorf("%d requests for a token, want 1", n)
	}
	if _, ok, err := k.file.Load(); ok || err != nil {
		t.Errorf("the dead tokens are still stored, or %v", err)
	}
	k.connect(t)
	if err := source.Put(k.first); err != nil {
		t.Fatal(err)
	}
	if err := api.Do(t.Context(), profile); err != nil {
		t.Errorf("after asking again: %v", err)
	}
}

// APP-01: a suspended app cannot refresh, but its tokens are not dead: they work
// again when the app does.
func TestSuspendedApp(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	_, api := k.start(t, k.file)
	k.Dev("apps/ledgerlink-sync/status", `{"status": "SUSPENDED"}`, nil)
	if err := api.Do(t.Context(), profile); err == nil || errors.Is(err, client.ErrReauthorize) {
		t.Errorf("error %v, want another than ErrReauthorize", err)
	}
	k.Dev("apps/ledgerlink-sync/status", `{"status": "ACTIVE"}`, nil)
	if err := api.Do(t.Context(), profile); err != nil {
		t.Error(err)
	}
}

// CLI-01: a caller that gives up during a refresh does not cancel it: the others, and
// the file, get the new tokens.
func TestHangingUp(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	source, _ := k.start(t, k.file)
	ctx, cancel := context.WithCancel(t.Context())
	k.wire.lose = func(r *http.Request) error {
		cancel() // after the response has arrived, but before it is read
		return r.Context().Err()
	}
	if _, err := source.Token(ctx, k.first.Access); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	token, err := source.Token(t.Context(), k.first.Access)
	if err != nil || token == k.first.Access {
		t.Fatalf("the same token, or %v", err)
	}
	if stored, _, err := k.file.Load(); err != nil || stored.Access != token {
		t.Errorf("not stored: %v", err)
	}
}
