package storetest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

func newAssertion(expires time.Time) oauthstore.UsedAssertion {
	return oauthstore.UsedAssertion{Digest: secret.New("x_").Digest(), ExpiresAt: expires}
}

// assertionCases are the clients that authenticate with keys of their own. CIMD-05.
var assertionCases = []testCase[partnerkit.Store]{
	{"CIMD-05 An assertion is used once", func(t *testing.T, e partnerkit.Store) {
		one := newAssertion(noon)
		for i, want := range []bool{true, false, false} {
			if first := get[bool](t)(e.UseAssertion(t.Context(), one)); first != want {
				t.Errorf("use %d: %t", i, first)
			}
		}
		if !get[bool](t)(e.UseAssertion(t.Context(), newAssertion(noon))) {
			t.Error("another one was refused")
		}
	}},
	{"CIMD-05 Race for an assertion", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			one := newAssertion(noon)
			var winners atomic.Int32
			testdb.Race(contenders, func(int) {
				first, err := e.UseAssertion(t.Context(), one)
				if err != nil {
					t.Error(err)
				}
				if first {
					winners.Add(1)
				}
			})
			if winners.Load() != 1 {
				t.Errorf("%d winners", winners.Load())
			}
		}
	}},
	{"CIMD-05 A used assertion is kept for a day", func(t *testing.T, e partnerkit.Store) {
		one := newAssertion(noon)
		get[bool](t)(e.UseAssertion(t.Context(), one))
		purge := storage.Purge{Kind: storage.PurgeOAuth, Before: noon.Add(24 * time.Hour), Limit: 1000}
		get[int](t)(e.Purge(t.Context(), purge))
		if get[bool](t)(e.UseAssertion(t.Context(), one)) {
			t.Error("purged too early")
		}
		purge.Before = purge.Before.Add(time.Second)
		get[int](t)(e.Purge(t.Context(), purge))
		if !get[bool](t)(e.UseAssertion(t.Context(), one)) {
			t.Error("not purged")
		}
	}},
	{"CIMD-05 The keys that were fetched last", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		if _, err := e.ClientKeys(t.Context(), f.app.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("no keys: %v", err)
		}
		keys := oauthstore.ClientKeys{AppID: f.app.ID, URI: "https://a.example/jwks", Set: `{"keys":[]}`, FetchedAt: noon, FreshUntil: noon.Add(time.Hour)}
		late := keys
		late.URI, late.FetchedAt = "https://b.example/jwks", noon.Add(-time.Second)
		for _, save := range []oauthstore.ClientKeys{keys, late} { // a slower node has older ones
			must(t, e.SaveClientKeys(t.Context(), save))
			if diff := cmp.Diff(keys, get[oauthstore.ClientKeys](t)(e.ClientKeys(t.Context(), f.app.ID))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
		next := keys
		next.URI, next.Set, next.FetchedAt = "https://c.example/jwks", `{}`, noon.Add(time.Second)
		must(t, e.SaveClientKeys(t.Context(), next))
		if diff := cmp.Diff(next, get[oauthstore.ClientKeys](t)(e.ClientKeys(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		next.AppID = "app_absent"
		must(t, e.SaveClientKeys(t.Context(), next))
		if _, err := e.ClientKeys(t.Context(), "app_absent"); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
}
