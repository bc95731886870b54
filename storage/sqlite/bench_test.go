package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// BenchmarkGroupCommit compares three ways to write one-row acts with
// synchronous=FULL: 64 writers whose acts are committed together, the same with
// a commit for each act, and the floor, one writer that puts 100 rows into each
// transaction. One run measures all three in turns, since disks are noisy, and
// reports the ratios that matter: grouped/single at least 2, grouped/floor at
// least 0.6.
func BenchmarkGroupCommit(b *testing.B) {
	grouped, single := openBench(b, 0), openBench(b, 1)
	floor := openBench(b, 1)
	const share = 200 * time.Millisecond
	var rates [3]float64
	for b.Loop() {
		rates[0] += throughput(64, share, func() int { return single1(b, grouped) })
		rates[1] += throughput(64, share, func() int { return act(b, single) })
		rates[2] += throughput(1, share, func() int { return hundred(b, floor) })
	}
	b.ReportMetric(rates[0]/float64(b.N), "grouped/s")
	b.ReportMetric(rates[1]/float64(b.N), "single/s")
	b.ReportMetric(rates[2]/float64(b.N), "floor/s")
	b.ReportMetric(rates[0]/rates[1], "grouped/single")
	b.ReportMetric(rates[0]/rates[2], "grouped/floor")
	b.ReportMetric(0, "ns/op")
}

func openBench(b *testing.B, maxBatch int) *sqlite.DB {
	b.Helper()
	db, err := sqlite.OpenDB(b.Context(), sqlite.Config{
		Path: filepath.Join(b.TempDir(), "bench.db"), MaxBatch: maxBatch, WriteWait: time.Minute,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(b.Context(), "CREATE TABLE bench (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	return db
}

const insert = "INSERT INTO bench (body) VALUES ($1)"

func act(b *testing.B, db *sqlite.DB) int {
	err := db.Write(context.Background(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, insert, "one row")
		return err
	})
	if err != nil {
		b.Error(err)
	}
	return 1
}

func hundred(b *testing.B, db *sqlite.DB) int {
	err := db.Write(context.Background(), func(ctx context.Context, tx storage.Tx) error {
		for range 100 {
			if _, err := tx.Exec(ctx, insert, "one row"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
	return 100
}

// throughput is the rows a second that the writers make in the given time.
func throughput(writers int, d time.Duration, write func() int) float64 {
	var rows atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range writers {
		wg.Go(func() {
			for time.Since(start) < d {
				rows.Add(int64(write()))
			}
		})
	}
	wg.Wait()
	return float64(rows.Load()) / time.Since(start).Seconds()
}

func single1(b *testing.B, db *sqlite.DB) int {
	if _, err := db.Exec(context.Background(), insert, "one row"); err != nil {
		b.Error(err)
	}
	return 1
}
