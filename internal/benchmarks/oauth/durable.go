package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"

	_ "modernc.org/sqlite" // the driver of the floor
)

const (
	// What they write: a refresh the row of its family and two tokens, a code exchange
	// that of the code, too.
	rowsOfRefresh, rowsOfExchange = 3, 4
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
	const pragmas = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	bare, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+pragmas+"&_txlock=immediate")
	if err != nil {
		return err
	}
	defer bare.Close()
	bare.SetMaxOpenConns(1)
	like := filepath.Join(dir, "like.db")
	if err := withTables(like); err != nil {
		return err
	}
	same, err := sql.Open("sqlite", "file:"+like+pragmas+"&_txlock=immediate")
	if err != nil {
		return err
	}
	defer same.Close()
	same.SetMaxOpenConns(1)
	return durable(p, r, durability{
		where: "durable SQLite, one client", store: store, bare: bare, like: same, most: 1.6,
		first: 1500, clients: 1, each: 50,
	})
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
		where: fmt.Sprintf("PostgreSQL, %d clients", clients), store: store, bare: db, like: db, schema: bare + ".", most: 2.2,
		first: clients, clients: clients, each: 10 * clients,
	})
}

// durability is what durable compares.
type durability struct {
	where  string
	store  *sqlstore.Store
	bare   *sql.DB // for short rows
	like   *sql.DB // has tables like ours
	schema string  // before the names of its tables
	most   float64 // the bar, as a multiple of a commit of its own rows
	// first is how many commits come before those that count: a log that still grows costs
	// more, about twice as much on some disks, since each commit makes its file longer.
	first         int
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
	same, err := newOurRows(d.like, d.schema, d.clients)
	if err != nil {
		return err
	}
	floor := func(name string, on *sql.DB, write func(tx *sql.Tx, client int) error) bench.Side {
		return bench.Side{Name: name, Each: d.each, Do: func(n int) error { return commits(on, d.clients, n, write) }}
	}
	before, redeem := redeeming(our, d.clients)
	sides := []bench.Side{
		floor("commit of 3 rows", d.bare, short(rowsOfRefresh)),
		{Name: "refresh", Each: d.each, Do: refreshing(our, d.clients)},
		floor("commit of its own rows", d.like, same.ofRefresh),
		floor("commit of 4 rows", d.bare, short(rowsOfExchange)),
		{Name: "code exchange", Each: d.each, Before: before, Do: redeem},
		floor("commit of its own rows", d.like, same.ofExchange),
	}
	for _, side := range sides[:3] { // of each file
		if err := side.Do(d.first); err != nil {
			return err
		}
	}
	measured, err := p.Compare(41, sides...) // short turns, and many: a disk has moods
	if err != nil {
		return err
	}
	for i := 0; i < len(measured); i += 3 {
		short, one, own := measured[i], measured[i+1], measured[i+2]
		ratio := one.Ratio(own)
		r.Add(report.Row{
			Group: group, Operation: one.Name + " on " + d.where, Ours: one.Wall.String(),
			Floor:  fmt.Sprintf("%s %v, %s %v", own.Name, own.Wall, short.Name, short.Wall),
			Ratios: fmt.Sprintf("%.2f of its own rows, %.2f of a %s", ratio, one.Ratio(short), short.Name),
			Spread: one.Spread(own),
			Bar:    fmt.Sprintf("at most %.1f of its own rows", d.most), Missed: ratio > d.most,
		})
	}
	return nil
}
