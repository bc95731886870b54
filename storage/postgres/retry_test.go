package postgres_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// Acts that deadlock run again and both happen, once each.
func TestDeadlocksAreRepeated(t *testing.T) {
	t.Parallel()
	db := open(t)
	table := `"` + db.Dialect().Schema + `".pair`
	err := db.Migrate(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE "+table+" (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO "+table+" VALUES (0, 0), (1, 0)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int64
	var met sync.WaitGroup
	met.Add(2)
	testdb.Race(2, func(i int) {
		first := true
		err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			runs.Add(1)
			if _, err := tx.Exec(ctx, "UPDATE "+table+" SET n = n + 1 WHERE id = $1", i); err != nil {
				return err
			}
			if first { // each holds one row before either asks for the other
				first = false
				met.Done()
				met.Wait()
			}
			_, err := tx.Exec(ctx, "UPDATE "+table+" SET n = n + 1 WHERE id = $1", 1-i)
			return err
		})
		if err != nil {
			t.Errorf("act %d: %v", i, err)
		}
	})
	if runs.Load() < 3 {
		t.Errorf("%d runs of two acts: they did not meet", runs.Load())
	}
	for id := range 2 {
		var n int
		if err := storage.One(t.Context(), db, "SELECT n FROM "+table+" WHERE id = $1", []any{id}, &n); err != nil || n != 2 {
			t.Errorf("row %d: %d, %v", id, n, err)
		}
	}
}
