// Package growth measures what work costs against how many rows there are.
package growth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/internal/grown"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	group = "Growth"
	// most is how much more a million rows may cost than ten thousand.
	most = 1.6
	// purged is how many rows of each kind are purged at a time: in all turns together
	// fewer than there are.
	purged = 70
)

// operation is something that is done often.
type operation struct {
	name string
	each int // times in a turn
	do   func(*grown.Service, context.Context) error
}

// Those that take rows away come last.
var operations = []operation{
	{"token verification", 1000, (*grown.Service).Verify},
	{"introspection", 500, (*grown.Service).Introspect},
	{"refresh", 60, (*grown.Service).Refresh},
	{"recording an event", 60, (*grown.Service).Record},
	{"planning an event", 40, (*grown.Service).Plan},
	{fmt.Sprintf("claiming %d deliveries", grown.Claimed), 40, (*grown.Service).Claim},
	{"first page of /events", 60, (*grown.Service).FirstPage},
	{"a page deep in /events", 60, (*grown.Service).DeepPage},
	{"delivery list", 60, (*grown.Service).DeliveryList},
	{"app data of ten records", 100, (*grown.Service).AppData},
	{"retention, nothing to purge", 60, (*grown.Service).PurgeNothing},
	{fmt.Sprintf("retention, %d rows", purged*grown.Kinds), 1, func(s *grown.Service, ctx context.Context) error { return s.Purge(ctx, purged) }},
}

// database is where rows are.
type database struct {
	name     string
	dir      string // that its files are in, if they are ours to remove
	open     func(ctx context.Context, n int) (*grown.Service, error)
	services []*grown.Service // by size
}

// All measures on files of SQLite and, where there is an address, on a PostgreSQL server,
// in a schema for each size: on one after the other, since what a server still does after
// it was filled would be measured with what comes next.
func All(p bench.Plan, r *report.Report, postgresURL string) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	databases := []*database{{name: "SQLite", dir: dir, open: func(ctx context.Context, n int) (*grown.Service, error) { return grown.OnSQLite(ctx, dir, n, plain) }}}
	if postgresURL == "" {
		r.Notes = append(r.Notes, "growth on PostgreSQL was left out: PARTNERKIT_TEST_POSTGRES is not set.")
	} else {
		run := time.Now().UnixNano()
		databases = append(databases, &database{name: "PostgreSQL", open: func(ctx context.Context, n int) (*grown.Service, error) {
			return grown.OnPostgres(ctx, postgresURL, fmt.Sprintf("pk_bench_%d_%d", run, n), n, plain)
		}})
	}
	for _, one := range databases {
		err := one.fill(sizes(p))
		if err == nil {
			err = one.measure(p, r)
		}
		if err := errors.Join(err, one.close()); err != nil {
			return err
		}
	}
	return nil
}

// fill makes all sizes.
func (d *database) fill(sizes []int) error {
	for _, n := range sizes {
		begun := time.Now()
		s, err := d.open(context.Background(), n)
		if err != nil {
			return fmt.Errorf("fill %s: %w", d.name, err)
		}
		d.services = append(d.services, s)
		fmt.Fprintf(os.Stderr, "%s: %s rows of each kind in %v\n", d.name, report.Count(n), time.Since(begun).Round(100*time.Millisecond))
	}
	return nil
}

// close makes room for the next one.
func (d *database) close() error {
	var err error
	for _, s := range d.services {
		err = errors.Join(err, s.Close())
	}
	if d.dir != "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}

func plain(db storage.DB) storage.DB { return db }

func sizes(p bench.Plan) []int {
	switch {
	case p.Short:
		return []int{10_000}
	case p.Large:
		return []int{10_000, 100_000, 1_000_000, 10_000_000}
	}
	return []int{10_000, 100_000, 1_000_000}
}

// measure has all sizes open at the same time, and each operation takes turns on them.
func (d *database) measure(p bench.Plan, r *report.Report) error {
	ctx, all := context.Background(), sizes(p)
	for _, op := range operations {
		sides := make([]bench.Side, len(all))
		for i, n := range all {
			sides[i] = bench.Side{Name: fmt.Sprintf("%s, %d rows", op.name, n), Each: op.each, Do: func(times int) error {
				for range times {
					if err := op.do(d.services[i], ctx); err != nil {
						return err
					}
				}
				return nil
			}}
		}
		measured, err := p.Compare(11, sides...)
		if err != nil {
			return err
		}
		plot := report.Plot{Group: group, Name: op.name, Line: d.name, Sizes: all}
		for _, one := range measured {
			plot.Values = append(plot.Values, float64(one.Wall)/float64(time.Microsecond))
		}
		r.Plots = append(r.Plots, plot)
		r.Add(row(op.name+" on "+d.name, all, measured))
	}
	return nil
}

func row(name string, sizes []int, measured []bench.Measured) report.Row {
	least := measured[0]
	out := report.Row{Group: group, Operation: name, Ours: fmt.Sprintf("%v at %s", report.Round(least.Wall), report.Count(sizes[0])), Allocs: fmt.Sprintf("%.0f", least.Allocs)}
	for i, one := range measured[1:] {
		size := sizes[1+i]
		out.Ours += fmt.Sprintf(", %v at %s", report.Round(one.Wall), report.Count(size))
		if size < 1_000_000 {
			continue
		}
		if out.Ratios != "" {
			out.Ratios += ", "
		}
		out.Ratios += fmt.Sprintf("%.2f at %s (CPU %.2f)", one.Ratio(least), report.Count(size), one.CPURatio(least))
		if size == 1_000_000 {
			out.Spread = one.Spread(least)
			out.Bar, out.Missed = fmt.Sprintf("at most %.1f", most), one.Ratio(least) > most
		}
	}
	return out
}
