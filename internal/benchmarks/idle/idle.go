// Package idle measures the reference server: how soon it responds, and what it takes
// while no request arrives.
package idle

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/internal/grown"
)

const (
	group = "Idle"

	mostStart  = 300 * time.Millisecond
	mostMemory = 50 << 20
	mostCPU    = 0.005 // of a core
	mostProbes = 1.6   // a second: planning looks every 950 ms, sending every 2 s
)

// SQLite measures the server on a file that is there already.
func SQLite(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(dir)
	if err != nil {
		return err
	}
	db := filepath.Join(dir, "server.db")
	first, err := program.start(db)
	if err != nil {
		return err
	}
	if err := first.stop(); err != nil {
		return err
	}
	starts := 15
	if p.Short {
		starts = 1
	}
	var took []time.Duration
	for range starts {
		s, err := program.start(db)
		if err != nil {
			return err
		}
		took = append(took, s.responded)
		if err := s.stop(); err != nil {
			return err
		}
	}
	middle, worst := bench.Median(took), took[0]
	for _, one := range took {
		worst = max(worst, one)
	}
	r.Add(report.Row{
		Group: group, Operation: "first response after the start, on an existing database", Ours: report.Round(middle).String(), Ratios: fmt.Sprintf("worst of %d: %v", starts, report.Round(worst)),
		Bar: "at most " + mostStart.String(), Missed: middle > mostStart,
	})
	return rest(p, r, program, db)
}

// rest measures a server that receives no request.
func rest(p bench.Plan, r *report.Report, program program, db string) error {
	s, err := program.start(db)
	if err != nil {
		return err
	}
	used, err := s.over(settle(p), span(p))
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	r.Add(report.Row{
		Group: group, Operation: "memory, resident", Ours: fmt.Sprintf("%.1f MB", float64(used.memory)/(1<<20)), Bar: "below 50 MB", Missed: used.memory >= mostMemory,
	}, report.Row{
		Group: group, Operation: "processor", Ours: fmt.Sprintf("%.2f %% of a core", 100*used.cpu), Ratios: fmt.Sprintf("over %v", span(p)), Bar: "below 0.5 %", Missed: used.cpu >= mostCPU,
	})
	return nil
}

// settle returns how long a server is left alone first, and span for how long it is watched.
func settle(p bench.Plan) time.Duration { return pick(p, 3*time.Second, 200*time.Millisecond) }
func span(p bench.Plan) time.Duration   { return pick(p, 20*time.Second, time.Second) }

func pick(p bench.Plan, long, short time.Duration) time.Duration {
	if p.Short {
		return short
	}
	return long
}

// Statements counts what the platform asks of an SQLite database when there is nothing to
// do, in this process and between the store and its database. The reference server has no
// loops of its own that ask more, except in development, where it follows the clock.
func Statements(p bench.Plan, r *report.Report) (err error) {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var heard *grown.Recorder
	s, err := grown.OnSQLite(context.Background(), dir, 0, grown.Recording(&heard))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Platform.Run(ctx) }()
	time.Sleep(settle(p))
	heard.Take()
	time.Sleep(span(p))
	all := heard.Take()
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	slices.SortFunc(all, func(a, b grown.Statement) int { return b.Times - a.Times })
	probes := 0.0
	var each []string
	for _, one := range all {
		often := float64(one.Times) / span(p).Seconds()
		if probe.MatchString(one.Text) {
			probes += often
		}
		each = append(each, fmt.Sprintf("%.2f on %s", often, strings.Join(slices.Compact(slices.Sorted(slices.Values(table.FindAllString(one.Text, -1)))), " and ")))
	}
	r.Add(report.Row{
		Group: group, Operation: "probes of SQLite for work", Ours: fmt.Sprintf("%.2f a second", probes), Ratios: strings.Join(each, ", "),
		Bar: "at most 1.6 a second", Missed: probes > mostProbes+2/span(p).Seconds(), // one more of each fits in at the edge
	})
	return nil
}

var (
	table = regexp.MustCompile(`partnerkit_\w+`)
	// probe matches queries for work. All other statements renew leases.
	probe = regexp.MustCompile(`partnerkit_(event|delivery_queue)\b`)
)

// Postgres counts the transactions of a server on a database of its own, with the pings
// of its driver and what PostgreSQL does there by itself.
func Postgres(p bench.Plan, r *report.Report, server string) (err error) {
	ctx := context.Background()
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	name := "pk_bench_" + strings.ToLower(rand.Text())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("What an idle server asks of PostgreSQL was not counted, which takes a database of its own: %v.", err))
		return nil
	}
	defer func() {
		_, dropped := admin.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		err = errors.Join(err, dropped)
	}()
	own, err := url.Parse(server)
	if err != nil {
		return err
	}
	own.Path = "/" + name
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(dir)
	if err != nil {
		return err
	}
	s, err := program.start(own.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	time.Sleep(settle(p))
	before, err := transactions(ctx, admin, name)
	if err != nil {
		return err
	}
	begun := time.Now()
	time.Sleep(span(p))
	after, err := transactions(ctx, admin, name)
	if err != nil {
		return err
	}
	each := float64(after-before) / time.Since(begun).Seconds()
	r.Add(report.Row{
		Group: group, Operation: "transactions on PostgreSQL, pings included", Ours: fmt.Sprintf("%.2f a second", each), Ratios: fmt.Sprintf("over %v", span(p)),
	})
	return nil
}

func transactions(ctx context.Context, db *sql.DB, database string) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", database).Scan(&n)
	return n, err
}

func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return base64.StdEncoding.EncodeToString(key)
}
