package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// A row of the host's own and an operation of the library commit together.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	if err := moveClock(ctx, store); err != nil {
		log.Print(err)
		return
	}
	offset, err := store.ClockOffset(ctx)
	fmt.Println(offset, err)
	// Output: 1m0s <nil>
}

func moveClock(ctx context.Context, store *sqlstore.Store) error {
	tx, err := store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	if _, err := tx.Exec(ctx, "CREATE TABLE note (body TEXT)"); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO note (body) VALUES ($1)", "of the host's own"); err != nil {
		return err
	}
	if _, err := store.WithTx(tx).AdvanceClock(ctx, time.Minute); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
