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

	_ "modernc.org/sqlite" // the driver of the floor
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
	bare := filepath.Join(dir, "bare.db")
	if err := withTables(bare); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+bare+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return durable(p, r, durability{where: "durable SQLite, one client", store: store, bare: db, clients: 1, each: 50})
}

// withTables makes a file with tables like ours.
func withTables(file string) error {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: file})
	if err != nil {
		return err
	}
	return store.Close()
}

// Postgres is Durable for many clients of PostgreSQL.
func Postgres(p bench.Plan, r *report.Report, url string) error {
	ctx, schema := context.Background(), fmt.Sprintf("partnerkit_bench_%d", os.Getpid())
	bare := schema + "_bare"
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
	defer func() { _, _ = db.Exec("DROP SCHEMA " + schema + ", " + bare + " CASCADE") }()
	defer store.Close()
	tables, err := postgres.New(ctx, db, postgres.Config{Schema: bare})
	if err != nil {
		return err
	}
	defer tables.Close()
	return durable(p, r, durability{
		where: fmt.Sprintf("PostgreSQL, %d clients", clients), store: store, bare: db, schema: bare + ".", clients: clients, each: 10 * clients,
	})
}

// durability is what durable compares.
type durability struct {
	where         string
	store         *sqlstore.Store
	bare          *sql.DB
	schema        string // before the names of its tables
	clients, each int
}

func durable(p bench.Plan, r *report.Report, d durability) error {
	our, err := newOurs(d.store)
	if err != nil {
		return err
	}
	short, err := shortRows(d.bare, d.schema+"short", d.clients)
	if err != nil {
		return err
	}
	same, err := newOurRows(d.bare, d.schema, d.clients)
	if err != nil {
		return err
	}
	floor := func(name string, write func(tx *sql.Tx, client int) error) bench.Side {
		return bench.Side{Name: name, Each: d.each, Do: func(n int) error { return commits(d.bare, d.clients, n, write) }}
	}
	before, redeem := redeeming(our, d.clients)
	measured, err := p.Compare(41, // short turns, and many: a disk has moods
		floor("commit of 3 rows", short(rowsOfRefresh)),
		bench.Side{Name: "refresh", Each: d.each, Do: refreshing(our, d.clients)},
		floor("of its own rows", same.ofRefresh),
		floor("commit of 4 rows", short(rowsOfExchange)),
		bench.Side{Name: "code exchange", Each: d.each, Before: before, Do: redeem},
		floor("of its own rows", same.ofExchange))
	if err != nil {
		return err
	}
	for i := 0; i < len(measured); i += 3 {
		floor, one, own := measured[i], measured[i+1], measured[i+2]
		ratio := one.Ratio(floor)
		r.Add(report.Row{
			Group: group, Operation: one.Name + " on " + d.where, Ours: one.Wall.String(),
			Floor:  fmt.Sprintf("%s %v, %s %v", floor.Name, floor.Wall, own.Name, own.Wall),
			Ratios: fmt.Sprintf("%.2f, %.2f of its own rows", ratio, one.Ratio(own)), Bar: fmt.Sprintf("at most %.1f", most), Missed: ratio > most,
		})
	}
	return nil
}
