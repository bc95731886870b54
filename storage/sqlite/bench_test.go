package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// BenchmarkGroupCommit compares ways to write one-row acts with
// synchronous=FULL: 64 writers whose acts are committed together, the same with
// a commit for each act, and the floor, one writer without our code that puts
// 100 rows into each transaction with a prepared statement. One run measures
// them in turns, since disks are noisy. An act is one statement here; /act is the
// same as a function, which needs a savepoint.
//
// The bars: grouped/single at least 2, grouped/floor at least 0.6.
func BenchmarkGroupCommit(b *testing.B) {
	grouped, single := openBench(b, 0), openBench(b, 1)
	floor := openFloor(b)
	const share = 200 * time.Millisecond
	var groupedRate, actRate, singleRate, floorRate float64
	for b.Loop() {
		groupedRate += throughput(64, share, func() int { return statement(b, grouped) })
		actRate += throughput(64, share, func() int { return act(b, grouped) })
		singleRate += throughput(64, share, func() int { return statement(b, single) })
		floorRate += throughput(1, share, func() int { return hundred(b, floor) })
	}
	rounds := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(groupedRate/rounds, "grouped/s")
	b.ReportMetric(singleRate/rounds, "single/s")
	b.ReportMetric(floorRate/rounds, "floor/s")
	b.ReportMetric(groupedRate/singleRate, "grouped/single")
	b.ReportMetric(groupedRate/floorRate, "grouped/floor")
	b.ReportMetric(actRate/floorRate, "act/floor")
	if os.Getenv("PARTNERKIT_BARS") != "" && (groupedRate < 2*singleRate || groupedRate < 0.6*floorRate) {
		b.Error("a bar is missed: grouped/single 2, grouped/floor 0.6")
	}
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
	if _, err := db.Exec(b.Context(), createBench); err != nil {
		b.Fatal(err)
	}
	return db
}

const createBench = "CREATE TABLE bench (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"

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

func statement(b *testing.B, db *sqlite.DB) int {
	if _, err := db.Exec(context.Background(), insert, "one row"); err != nil {
		b.Error(err)
	}
	return 1
}

// floor is the same table without our code.
type floor struct {
	db   *sql.DB
	stmt *sql.Stmt
}

func openFloor(b *testing.B) floor {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "floor.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(createBench); err != nil {
		b.Fatal(err)
	}
	stmt, err := db.Prepare(insert)
	if err != nil {
		b.Fatal(err)
	}
	return floor{db, stmt}
}

func hundred(b *testing.B, f floor) int {
	tx, err := f.db.Begin()
	if err != nil {
		b.Error(err)
		return 0
	}
	stmt := tx.Stmt(f.stmt)
	for range 100 {
		if _, err := stmt.Exec("one row"); err != nil {
			b.Error(err)
		}
	}
	if err := tx.Commit(); err != nil {
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
