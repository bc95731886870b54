package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// Acts join a host's transaction, whether *sql.Tx or pgx.Tx: they are seen when
// it commits, and one that fails leaves it as it was.
func TestJoinHostsTransaction(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()

	begin := map[string]func(t *testing.T) (tx storage.Tx, commit func() error){
		"*sql.Tx": func(t *testing.T) (storage.Tx, func() error) {
			tx, err := hostDB(t, "pgx", url).BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return storage.SQL(tx), tx.Commit
		},
		"pgx.Tx": func(t *testing.T) (storage.Tx, func() error) {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return postgres.Pgx(tx), func() error { return tx.Commit(t.Context()) }
		},
	}
	want := time.Duration(0)
	for name, begin := range begin {
		t.Run(name, func(t *testing.T) {
			tx, commit := begin(t)
			joined := store.WithTx(tx)
			if _, err := joined.AdvanceClock(t.Context(), time.Minute); err != nil {
				t.Fatal(err)
			}
			err := storage.Savepoint(t.Context(), tx, func(ctx context.Context, tx storage.Tx) error {
				_, err := tx.Exec(ctx, "INSERT INTO absent VALUES ($1)", 1)
				return err
			})
			if err == nil {
				t.Fatal("a statement on an absent table succeeded")
			}
			inside, err := joined.ClockOffset(t.Context())
			if err != nil || inside != want+time.Minute {
				t.Errorf("inside, after a failure: %v, %v", inside, err)
			}
			if got, err := store.ClockOffset(t.Context()); err != nil || got != want {
				t.Errorf("outside, before the commit: %v, %v", got, err)
			}
			if err := storage.One(t.Context(), tx, "SELECT 1 WHERE 1 = 0", nil); !errors.Is(err, storage.ErrNoRows) {
				t.Errorf("one of no rows: %v", err)
			}
			if err := commit(); err != nil {
				t.Fatal(err)
			}
			want += time.Minute
			if got, err := store.ClockOffset(t.Context()); err != nil || got != want {
				t.Errorf("after the commit: %v, %v", got, err)
			}
		})
	}
}
