package postgres_test

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// What an operation does later is part of it: in its order, seen by its own statements, and
// its failure is that of the operation.
func TestLater(t *testing.T) {
	t.Parallel()
	db := open(t)
	table := `"` + db.Dialect().Schema + `".later`
	err := db.Migrate(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE "+table+" (id BIGINT PRIMARY KEY)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	insert := func(ctx context.Context, tx storage.Tx, n int) error {
		return storage.Later(ctx, tx, "INSERT INTO "+table+" VALUES ($1)", n)
	}
	rows := func(from storage.Querier) (n int) {
		if err := storage.One(t.Context(), from, "SELECT COUNT(*) FROM "+table+" WHERE id > $1", []any{0}, &n); err != nil {
			t.Error(err)
		}
		return n
	}
	var kept storage.Tx
	err = db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		kept = tx
		if err := insert(ctx, tx, 1); err != nil {
			return err
		}
		if n := rows(tx); n != 1 {
			t.Errorf("the act sees %d rows of its own", n)
		}
		return insert(ctx, tx, 2)
	})
	if n := rows(db); err != nil || n != 2 {
		t.Errorf("%d rows were committed: %v", n, err)
	}
	if err := insert(t.Context(), kept, 3); err == nil {
		t.Error("a statement was taken after the act")
	}
	err = db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		if err := insert(ctx, tx, 4); err != nil {
			return err
		}
		return insert(ctx, tx, 1) // taken
	})
	if n := rows(db); err == nil || n != 2 {
		t.Errorf("after a failure at the commit there are %d rows: %v", n, err)
	}
	err = db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		_, _ = tx.Exec(ctx, "INSERT INTO "+table+" VALUES ($1)", 1) // a duplicate; the error is ignored
		return nil
	})
	if err == nil {
		t.Error("an act whose statement failed was committed")
	}
}

// A row that is asked for later is there once the next statement has run, and so is the
// news that there is none. One that does not fit is that statement's failure.
func TestOneLater(t *testing.T) {
	t.Parallel()
	db := open(t)
	for where, there := range map[string]bool{"true": true, "false": false} {
		err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			var found bool
			var n int
			if err := storage.OneLater(ctx, tx, &found, "SELECT $1::int WHERE "+where, []any{7}, &n); err != nil {
				return err
			}
			changed, err := tx.Exec(ctx, "SELECT 1")
			if changed != 1 || found != there || there != (n == 7) {
				t.Errorf("where %s: found %v, %d; the next statement: %d", where, found, n, changed)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	var found bool
	var n, after int
	err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		if err := storage.OneLater(ctx, tx, &found, "SELECT 'seven'", nil, &n); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT 1"); err == nil || found {
			t.Errorf("a row that does not fit was found: %v, %v", found, err)
		}
		if err := storage.Later(ctx, tx, "SELECT 2"); err != nil { // in its place
			return err
		}
		return storage.One(ctx, tx, "SELECT 3", nil, &after)
	})
	if err != nil || n != 0 || after != 3 {
		t.Errorf("what came after it: %d, %d, %v", n, after, err)
	}
}
