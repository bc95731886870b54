package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// secretCases check that an app has one or two valid secrets, even if secrets are added and
// ended concurrently. APP-02.
var secretCases = []testCase[partnerkit.Store]{
	{"Race to add secrets", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newOAuth(t, e)
			var added, refused atomic.Int64
			testdb.Race(contenders, func(int) {
				switch err := addSecret(t.Context(), e, f.secret()); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, oauthstore.ErrTooManySecrets):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			if added.Load() != 1 || refused.Load() != contenders-1 {
				t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
			}
		}
	}},
	{"Race to end both secrets", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newOAuth(t, e)
			must(t, addSecret(t.Context(), e, f.secret()))
			both := get[[]partner.ClientSecret](t)(e.ClientSecrets(t.Context(), f.app.ID))
			var ended atomic.Int64
			testdb.Race(contenders, func(i int) {
				switch err := endSecret(t.Context(), e, f.app.ID, both[i%2].ID); {
				case err == nil:
					ended.Add(1)
				case !errors.Is(err, errLastSecret) && !errors.Is(err, partner.ErrNotFound):
					t.Error(err)
				}
			})
			if left := f.validSecrets(t); ended.Load() != 1 || left != 1 {
				t.Fatalf("%d ended, %d valid", ended.Load(), left)
			}
		}
	}},
}

// secret returns one more secret of the app, not stored yet.
func (f *oauthFixture) secret() partner.ClientSecret {
	return partner.ClientSecret{ID: id.New(id.Secret, noon), AppID: f.app.ID, Digest: secret.DigestOf("another"), Prefix: "a", CreatedAt: noon}
}

func (f *oauthFixture) validSecrets(t testing.TB) int {
	t.Helper()
	return len(get[oauthstore.Client](t)(f.Client(t.Context(), f.app.ClientID)).Secrets)
}

// wantSecond wants two valid secrets if the second is there, otherwise one.
func (f *oauthFixture) wantSecond(t testing.TB, isThere bool) {
	t.Helper()
	if got := f.validSecrets(t); (got == 2) != isThere || got == 0 {
		t.Errorf("%d valid secrets, the second is there: %v", got, isThere)
	}
}
