package webhooks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

const (
	queueWebhooks = 100
	queueBatch    = 500
	claimedAtOnce = 50 // webhooks in a batch, with the same number of deliveries each
)

// queue is a store with a number of deliveries queued, and a dispatcher that holds
// every shard of it.
type queue struct {
	*sqlstore.Store
	db       storage.DB
	length   int
	added    int // deliveries, ever
	app      string
	webhooks []string             // the next to be claimed first
	from     map[string]time.Time // by webhook: the last due time that was claimed
	epochs   map[int]int64
}

// queueStart is when the first delivery is due; each further one a millisecond
// later.
var queueStart = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

const queueNode = "bench"

func newQueue(b *testing.B, db storage.DB, length int) *queue {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { must(db.Close()) })
	store, err := sqlstore.New(b.Context(), db, sqlstore.Config{})
	must(err)
	q := &queue{Store: store, db: db, length: length, from: map[string]time.Time{}, epochs: map[int]int64{}}
	app := fixture.App(queueStart, identity.MustScopes("invoices:read"))
	must(fixture.AddApp(b.Context(), q, app))
	q.app = app.ID
	for i := range queueWebhooks {
		w := webhooks.Webhook{
			ID: webhookNumber(i), AppID: q.app, URL: "https://app.example/hook", Events: []string{benchEvent}, Enabled: true,
			CreatedAt: queueStart, UpdatedAt: queueStart, Secrets: webhooks.Secrets{Secret: []byte("sealed")},
		}
		must(q.CreateWebhook(b.Context(), w, queueWebhooks))
		q.webhooks = append(q.webhooks, w.ID)
		q.from[w.ID] = queueStart
	}
	fleet, err := q.Beat(b.Context(), queueNode, time.Hour)
	must(err)
	for _, shard := range fleet.Shards {
		_, err := q.TakeShard(b.Context(), queueNode, shard, time.Hour)
		must(err)
		q.epochs[shard.ID] = shard.Epoch + 1
	}
	must(q.add(b.Context(), length))
	if db.Dialect().Name == "postgres" { // as autovacuum does after a while
		_, err := db.Exec(b.Context(), q.text("ANALYZE partnerkit_delivery, partnerkit_delivery_queue"))
		must(err)
	}
	return q
}

// add queues deliveries, as many plans would have.
func (q *queue) add(ctx context.Context, n int) error {
	first, last := q.added, q.added+n-1
	q.added += n
	return q.db.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, q.text(`INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, next_attempt_at, created_at) `+numbered+`
			SELECT `+numberedDelivery+", "+numberedWebhook+", $4, 'evt_' || CAST(i AS TEXT), $5, 'biz_1', $6, 'queued', 0, CAST($3 AS BIGINT) + i, CAST($3 AS BIGINT) FROM n"),
			first, last, queueStart.UnixMilli(), q.app, benchEvent, []byte(strings.Repeat("x", 256)))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, q.text("INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) "+numbered+`
			SELECT `+numberedWebhook+", CAST($3 AS BIGINT) + i, "+numberedDelivery+", "+numberedShard()+" FROM n"), first, last, queueStart.UnixMilli())
		return err
	})
}

// What a delivery with the number i has.
const (
	numbered         = "WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT))"
	numberedDelivery = "'dlv_000000000000000000' || SUBSTR(CAST(100000000 + i AS TEXT), 2)"
	numberedWebhook  = "'whk_000000000000000000000000' || SUBSTR(CAST(100 + i % 100 AS TEXT), 2)"
)

func numberedShard() string {
	shard := "CASE i % 100"
	for i := range queueWebhooks {
		shard += fmt.Sprintf(" WHEN %d THEN %d", i, webhooks.ShardOf(webhookNumber(i)))
	}
	return shard + " END"
}

func webhookNumber(i int) string { return fmt.Sprintf("whk_%026d", i) }

// text puts the schema into a statement.
func (q *queue) text(statement string) string {
	if schema := q.db.Dialect().Schema; schema != "" {
		return strings.ReplaceAll(statement, "partnerkit_", `"`+schema+`".partnerkit_`)
	}
	return statement
}

// batch claims one and finishes it, and returns what a delivery cost, in
// microseconds. Others are queued in their place.
func (q *queue) batch(b *testing.B) float64 {
	b.Helper()
	ctx := context.WithoutCancel(b.Context()) // as the dispatcher has it
	claim := webhooks.Claim{Now: queueStart.AddDate(1, 0, 0), IsTaken: func(string) bool { return false }}
	for range claimedAtOnce {
		w := q.webhooks[0]
		q.webhooks = append(q.webhooks[1:], w)
		claim.Webhooks = append(claim.Webhooks, webhooks.WebhookClaim{WebhookID: w, From: q.from[w], Limit: queueBatch / claimedAtOnce})
	}
	begun := time.Now()
	due, err := q.DueDeliveries(ctx, claim)
	claimed := time.Since(begun)
	if err != nil || len(due) != queueBatch {
		b.Fatalf("claimed %d, %v", len(due), err)
	}
	finish := q.arrived(due)
	begun = time.Now()
	if _, err := q.FinishAttempts(ctx, finish); err != nil {
		b.Fatal(err)
	}
	took := claimed + time.Since(begun)
	if err := q.add(ctx, queueBatch); err != nil {
		b.Fatal(err)
	}
	return float64(took.Microseconds()) / queueBatch
}

// arrived returns the Finish of a success of each delivery.
func (q *queue) arrived(due []webhooks.Due) webhooks.Finish {
	finish := webhooks.Finish{Node: queueNode, Now: queueStart, Lease: time.Hour}
	for _, one := range due {
		if one.DueAt.After(q.from[one.WebhookID]) {
			q.from[one.WebhookID] = one.DueAt
		}
		finish.Outcomes = append(finish.Outcomes, webhooks.Outcome{
			Due: one, Epoch: q.epochs[webhooks.ShardOf(one.WebhookID)], Status: webhooks.Delivered, Attempts: 1, ResponseCode: 204,
			Attempt: &webhooks.Attempt{
				ID: id.New(id.Attempt, queueStart), Number: 1, StartedAt: queueStart, Duration: time.Millisecond, ResponseCode: 204,
				Signature: "t=1788264000,v1=" + strings.Repeat("0", 64),
			},
		})
	}
	return finish
}

// check fails when what was finished has not left the queue.
func (q *queue) check(b *testing.B) {
	b.Helper()
	var length int
	if err := storage.One(b.Context(), q.db, q.text("SELECT COUNT(*) FROM partnerkit_delivery_queue"), nil, &length); err != nil || length != q.length {
		b.Fatalf("%d deliveries are queued, want %d, %v", length, q.length, err)
	}
}
