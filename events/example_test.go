package events_test

import (
	"context"
	"fmt"
	"log"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

type invoice struct {
	ID    string `json:"id"`
	Total int    `json:"total"`
}

// save writes a row of the host's own and the event that tells about it, together
// or not at all.
func save(ctx context.Context, store *sqlstore.Store, happened *events.Log, made invoice) error {
	return store.InTx(ctx, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO invoice (id, total) VALUES ($1, $2)", made.ID, made.Total); err != nil {
			return err
		}
		_, err := happened.RecordIn(ctx, tx, events.Draft{Type: "invoice.created", BusinessID: "biz_1", Data: made})
		return err
	})
}

func ExampleLog_Record() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	happened, err := events.New(events.Config{Store: store})
	if err != nil {
		log.Print(err)
		return
	}
	err = store.InTx(ctx, func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE invoice (id TEXT PRIMARY KEY, total BIGINT NOT NULL)")
		return err
	})
	if err != nil {
		log.Print(err)
		return
	}

	for range 2 {
		if err := save(ctx, store, happened, invoice{ID: "inv_1", Total: 11900}); err != nil {
			fmt.Println("the second time neither the row nor the event")
		}
	}
	_, _ = store.NumberEvents(ctx, "biz_1") // what the Events API does before it reads
	recorded, err := store.Events(ctx, eventstore.Query{BusinessID: "biz_1", Types: []string{"invoice.created"}, Limit: 10})
	if err != nil {
		log.Print(err)
		return
	}
	for _, e := range recorded {
		fmt.Println(e.Type, string(e.Data))
	}
	// Output:
	// the second time neither the row nor the event
	// invoice.created {"id":"inv_1","total":11900}
}
