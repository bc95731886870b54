// Package commits compares commits that are shared with what the database can do at
// most.
package commits

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"

	_ "modernc.org/sqlite" // the driver of the floor
)

const (
	writers = 64
	batch   = 100 // rows in a transaction of the floor
	create  = "CREATE TABLE bench (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"
	insert  = "INSERT INTO bench (body) VALUES ($1)"
)

// Group compares writers that come at the same time, each with an act of one row, with
// one that has no code of ours, puts many rows into each transaction and knows them all
// beforehand. Both wait for the disk.
func Group(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	open := func(name string, maxBatch int) (*sqlite.DB, error) {
		db, err := sqlite.OpenDB(context.Background(), sqlite.Config{Path: filepath.Join(dir, name), MaxBatch: maxBatch, WriteWait: time.Minute})
		if err == nil {
			_, err = db.Exec(context.Background(), create)
		}
		return db, err
	}
	grouped, err := open("grouped.db", 0)
	if err != nil {
		return err
	}
	defer grouped.Close()
	single, err := open("single.db", 1)
	if err != nil {
		return err
	}
	defer single.Close()
	floor, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer floor.Close()
	floor.SetMaxOpenConns(1)
	if _, err := floor.Exec(create); err != nil {
		return err
	}
	sides := []bench.Side{
		{Name: "floor", Each: 60 * batch, Do: batches(floor)},
		{Name: "statements", Each: 60 * batch, Do: together(grouped, statement)},
		{Name: "acts", Each: 60 * batch, Do: together(grouped, act)},
		{Name: "single", Each: 5 * batch, Do: together(single, statement)},
	}
	for _, side := range sides { // until no log grows any more, see oauth.Durable
		if err := side.Do(20 * side.Each); err != nil {
			return err
		}
	}
	measured, err := p.Compare(9, sides...)
	if err != nil {
		return err
	}
	const least = 0.6
	bare, one := measured[0], measured[3]
	for i, name := range []string{"a statement", "a function of one statement"} {
		our := measured[i+1]
		share := 1 / our.Ratio(bare)
		row := report.Row{
			Group: "Commits", Operation: fmt.Sprintf("%d writers, each with %s, on durable SQLite", writers, name), Ours: fmt.Sprintf("%.0f/s", our.PerSecond()),
			Floor:  fmt.Sprintf("%d rows a commit %.0f/s", batch, bare.PerSecond()),
			Ratios: fmt.Sprintf("%.2f of the floor, %.0f times a commit each", share, 1/our.Ratio(one)),
			Spread: bare.Spread(our),
		}
		if i == 0 {
			row.Bar, row.Missed = fmt.Sprintf("at least %.1f of the floor", least), share < least
		}
		r.Add(row)
	}
	return nil
}

// together writes n rows from all writers.
func together(db *sqlite.DB, write func(*sqlite.DB) error) func(n int) error {
	return func(n int) error {
		return bench.Parallel(writers, n, func(_, n int) error {
			for range n {
				if err := write(db); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func statement(db *sqlite.DB) error {
	n, err := db.Exec(context.Background(), insert, "one row")
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows were written", n)
	}
	return err
}

// act is the same as a function, which needs a savepoint.
func act(db *sqlite.DB) error {
	return db.Write(context.Background(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, insert, "one row")
		return err
	})
}

// batches writes n rows, many to a transaction, with a prepared statement.
func batches(db *sql.DB) func(n int) error {
	return func(n int) error {
		stmt, err := db.Prepare(insert)
		if err != nil {
			return err
		}
		defer stmt.Close()
		for range n / batch {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			prepared := tx.Stmt(stmt)
			for range batch {
				if _, err := prepared.Exec("one row"); err != nil {
					return err
				}
			}
			if err := tx.Commit(); err != nil {
				return err
			}
		}
		return nil
	}
}
