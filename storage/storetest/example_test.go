package storetest_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// slowLog is a store around another one: it logs reads of access tokens that take long.
type slowLog struct {
	partnerkit.Store
	inner *sqlstore.Store // its optional method is forwarded by hand
	log   *slog.Logger
}

func (s slowLog) AccessToken(ctx context.Context, tokenID string, digest storage.Digest) (oauthstore.AccessToken, error) {
	began := time.Now()
	token, err := s.Store.AccessToken(ctx, tokenID, digest)
	if took := time.Since(began); took > 50*time.Millisecond {
		s.log.WarnContext(ctx, "slow read of an access token", "took", took)
	}
	return token, err
}

func (s slowLog) Run(ctx context.Context) error { return s.inner.Run(ctx) }

// A test certifies a store of your own. Here the store wraps that of SQLite.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, func(t testing.TB) partnerkit.Store {
			inner, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = inner.Close() })
			return slowLog{Store: inner, inner: inner, log: slog.Default()}
		})
	}
}
