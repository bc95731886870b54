package webhooks_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// BenchmarkQueue (DLV-10) claims and finishes batches of 500 deliveries while 1 million are
// queued, and in turns with it while 10 thousand are. Each batch is replaced by new
// deliveries, so that the queues stay as long as they are.
//
// The bar: a delivery costs at most 1.5 times as much in the long queue, on
// PostgreSQL even while an old snapshot is open, which keeps every row that leaves
// the queue.
func BenchmarkQueue(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		open := func() storage.DB {
			db, err := sqlite.OpenDB(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "queue.db"), WriteWait: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			return db
		}
		compareQueues(b, newQueue(b, open(), shortQueue), newQueue(b, open(), longQueue()))
	})
	b.Run("postgres", func(b *testing.B) {
		url, _ := testenv.Postgres(b)
		open := func() storage.DB {
			_, schema := testenv.Postgres(b)
			db, err := postgres.OpenDB(b.Context(), url, postgres.Config{Schema: schema, MaxConns: 4})
			if err != nil {
				b.Fatal(err)
			}
			return db
		}
		short, long := newQueue(b, open(), shortQueue), newQueue(b, open(), longQueue())
		b.Run("no snapshot", func(b *testing.B) { compareQueues(b, short, long) })
		b.Run("old snapshot", func(b *testing.B) {
			holdSnapshot(b, url)
			compareQueues(b, short, long)
		})
	})
}

const shortQueue = 10_000

func longQueue() int { return sized(20_000, 1_000_000) }

// compareQueues runs batches in both, by turns.
func compareQueues(b *testing.B, short, long *queue) {
	rounds := sized(2, 100)
	var shortTook, longTook []float64
	for b.Loop() {
		for range rounds {
			shortTook = append(shortTook, short.batch(b))
			longTook = append(longTook, long.batch(b))
		}
	}
	short.check(b)
	long.check(b)
	shortUS, longUS := median(shortTook), median(longTook)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(shortUS, "short-µs")
	b.ReportMetric(longUS, "long-µs")
	b.ReportMetric(longUS/shortUS, "long/short")
	b.Logf("a delivery costs %.1f µs with %d queued, %.2f times the %.1f µs with %d", longUS, long.length, longUS/shortUS, shortUS, short.length)
	if hasBars() && longUS/shortUS > 1.5 {
		b.Error("a bar is missed: long/short 1.5")
	}
}

// holdSnapshot opens a transaction that has read, and goes on seeing what was then.
func holdSnapshot(b *testing.B, url string) {
	b.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		b.Fatal(err)
	}
	tx, err := db.BeginTx(b.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		b.Fatal(err)
	}
	var one int
	if err := tx.QueryRowContext(b.Context(), "SELECT COUNT(*) FROM pg_class").Scan(&one); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = tx.Rollback()
		_ = db.Close()
	})
}
