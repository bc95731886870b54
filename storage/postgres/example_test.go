package postgres_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/storage/postgres"
)

// An operation of the library joins a transaction that the host began with pgx.
func Example() {
	ctx := context.Background()
	url := os.Getenv("DATABASE_URL")
	store, err := postgres.Open(ctx, url, postgres.Config{Schema: "partnerkit"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close(ctx)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO note (body) VALUES ($1)", "of the host's own"); err != nil {
			return err
		}
		_, err := store.WithTx(postgres.Pgx(tx)).AdvanceClock(ctx, time.Minute)
		return err
	})
	fmt.Println(err)
}
