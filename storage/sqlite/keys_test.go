package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// IDEM-01: a request that ran when its process died does not keep its key: the next
// process has the database to itself, and need not wait for the end of the lease.
func TestKeysOfEarlierProcess(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "keys.db"), time.Now()
	claimOf := func(key, owner string, fingerprint byte) keystore.Claim {
		return keystore.Claim{
			Hold:        keystore.Hold{CallerID: "app_1", BusinessID: "biz_1", Key: key, Owner: owner},
			Fingerprint: [32]byte{fingerprint}, LeaseEnds: now.Add(time.Hour), ExpiresAt: now.Add(24 * time.Hour),
			At: keystore.Time{Now: now, Real: now},
		}
	}
	open := func() (claim func(key, owner string, fingerprint byte, want keystore.State), finish func(key, owner string) error, end func()) {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		claim = func(key, owner string, fingerprint byte, want keystore.State) {
			t.Helper()
			if got, err := store.ClaimKey(t.Context(), claimOf(key, owner, fingerprint)); err != nil || got.State != want {
				t.Errorf("%s claims %q: state %v, error %v; want state %v", owner, key, got.State, err, want)
			}
		}
		finish = func(key, owner string) error {
			return store.FinishKey(t.Context(), nil, claimOf(key, owner, 1).Hold, keystore.Response{Status: 201})
		}
		return claim, finish, func() {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}

	claim, finish, end := open()
	claim("running", "first", 1, keystore.Owned)
	claim("running", "second", 1, keystore.Running)
	claim("done", "first", 1, keystore.Owned)
	if err := finish("done", "first"); err != nil {
		t.Fatal(err)
	}
	end()

	claim, finish, end = open()
	defer end()
	claim("done", "third", 1, keystore.Responded)
	claim("running", "third", 2, keystore.Mismatch)
	claim("running", "third", 1, keystore.Owned)
	claim("running", "fourth", 1, keystore.Running)
	if err := finish("running", "first"); err == nil {
		t.Error("the owner of the earlier process could still respond")
	}
	if err := finish("running", "third"); err != nil {
		t.Error(err)
	}
}
