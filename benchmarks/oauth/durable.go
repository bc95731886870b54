package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/partnerkit/partnerkit/benchmarks/bench"
	"github.com/partnerkit/partnerkit/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

const (
	// What they write: a refresh the row of its family and two tokens, a code exchange
	// that of the code, too.
	rowsOfRefresh, rowsOfExchange = 3, 4
	// most is how much more they may cost than a commit of so many rows.
	most = 1.5
	// clients is how many come at a time, where many do.
	clients = 64
)

// Durable compares refreshes and code exchanges on a durable file with a bare commit of
// as many rows.
func Durable(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "ours.db")})
	if err != nil {
		return err
	}
	defer store.Close()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return durable(p, r, durability{where: "durable SQLite, one client", store: store, bare: db, clients: 1, each: 50})
}

// Postgres is Durable for many clients of PostgreSQL.
func Postgres(p bench.Plan, r *report.Report, url string) error {
	ctx, schema := context.Background(), fmt.Sprintf("partnerkit_bench_%d", os.Getpid())
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(clients) // which ours and the bare ones share
	db.SetMaxIdleConns(clients)
	store, err := postgres.New(ctx, db, postgres.Config{Schema: schema})
	if err != nil {
		return err
	}
	defer func() { _, _ = db.Exec("DROP SCHEMA " + schema + " CASCADE") }()
	defer store.Close()
	return durable(p, r, durability{
		where: fmt.Sprintf("PostgreSQL, %d clients", clients), store: store, bare: db, table: schema + ".", clients: clients, each: 10 * clients,
	})
}

// durability is what durable compares.
type durability struct {
	where         string
	store         *sqlstore.Store
	bare          *sql.DB
	table         string // what its name begins with
	clients, each int
}

func durable(p bench.Plan, r *report.Report, d durability) error {
	our, err := newOurs(d.store)
	if err != nil {
		return err
	}
	bare, err := bareCommits(d.bare, d.table+"bare", d.clients)
	if err != nil {
		return err
	}
	floor := func(rows int) bench.Side {
		return bench.Side{Name: fmt.Sprintf("commit of %d rows", rows), Each: d.each, Do: func(n int) error { return bare(n, rows) }}
	}
	before, redeem := redeeming(our, d.clients)
	measured, err := p.Compare(41, // short turns, and many: a disk has moods
		floor(rowsOfRefresh), bench.Side{Name: "refresh", Each: d.each, Do: refreshing(our, d.clients)},
		floor(rowsOfExchange), bench.Side{Name: "code exchange", Each: d.each, Before: before, Do: redeem})
	if err != nil {
		return err
	}
	for i := 0; i < len(measured); i += 2 {
		floor, one := measured[i], measured[i+1]
		ratio := one.Ratio(floor)
		r.Add(report.Row{
			Group: group, Operation: one.Name + " on " + d.where, Ours: one.Wall.String(),
			Floor:  fmt.Sprint(floor.Name, " ", floor.Wall),
			Ratios: fmt.Sprintf("%.2f", ratio), Bar: fmt.Sprintf("at most %.1f", most), Missed: ratio > most,
		})
	}
	return nil
}

// bareCommits writes a number of rows in a transaction each, as durably as ours.
func bareCommits(db *sql.DB, table string, clients int) (do func(n, rows int) error, err error) {
	if _, err := db.Exec("CREATE TABLE " + table + " (id TEXT PRIMARY KEY, a TEXT, b BIGINT, c BIGINT)"); err != nil {
		return nil, err
	}
	insert, err := db.Prepare("INSERT INTO " + table + " VALUES ($1, $2, $3, $4)")
	if err != nil {
		return nil, err
	}
	next := make([]int, clients)
	return func(n, rows int) error {
		return bench.Parallel(clients, n, func(client, n int) error {
			for range n {
				tx, err := db.Begin()
				if err != nil {
					return err
				}
				own := tx.Stmt(insert)
				for range rows {
					next[client]++
					if _, err := own.Exec(fmt.Sprintf("row_%06d%020d", client, next[client]), "a value of some length, as an id has", client, next[client]); err != nil {
						return err
					}
				}
				if err := tx.Commit(); err != nil {
					return err
				}
			}
			return nil
		})
	}, nil
}
