package storage_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// Exactly one of two callers redeems the same voucher: a single conditional UPDATE selects
// the winner, not an earlier read.
func ExampleDB() {
	ctx := context.Background()
	db, err := sqlite.OpenDB(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE voucher (code TEXT PRIMARY KEY, used_by TEXT)"); err != nil {
		log.Print(err)
		return
	}
	if _, err := db.Exec(ctx, "INSERT INTO voucher (code) VALUES ($1)", "SPRING"); err != nil {
		log.Print(err)
		return
	}

	errUsed := errors.New("already used")
	redeem := func(who string) error {
		return db.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
			n, err := tx.Exec(ctx, "UPDATE voucher SET used_by = $1 WHERE code = $2 AND used_by IS NULL", who, "SPRING")
			if err != nil {
				return err
			}
			if n == 0 {
				return errUsed
			}
			return nil
		})
	}
	fmt.Println(redeem("ann"))
	fmt.Println(redeem("bob"))
	// Output:
	// <nil>
	// already used
}
