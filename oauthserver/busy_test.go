package oauthserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// OERR-04: a write that does not get its turn is a 503 in the OAuth shape, and the
// same request succeeds afterwards: nothing was done.
func TestBusyDatabase(t *testing.T) {
	t.Parallel()
	k := newAPIHarnessOn(t, func(t testing.TB) storage.DB {
		return testdb.SQLiteWith(t, sqlite.Config{WriteWait: 20 * time.Millisecond})
	})
	for _, s := range scenarios() {
		if s.commits == 0 {
			continue
		}
		path, change, form := s.prepare(k)
		tx, err := k.Store.BeginTx(t.Context())
		k.Must(err)
		got := k.post(path, change, form...)
		got.refused(http.StatusServiceUnavailable, "server_error", "*")
		if wait := got.Header.Get("Retry-After"); wait != "" {
			t.Errorf("%s: Retry-After %s; a 5xx has none in this shape", s.name, wait)
		}
		k.Must(tx.Rollback())
		if got := k.post(path, change, form...); got.Status != http.StatusOK {
			t.Errorf("%s: with the turn: %d %s", s.name, got.Status, got.Body)
		}
	}
}
