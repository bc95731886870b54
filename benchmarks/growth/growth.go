// Package growth measures what work costs against how many rows there are.
package growth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/partnerkit/partnerkit/benchmarks/bench"
	"github.com/partnerkit/partnerkit/benchmarks/report"
	"github.com/partnerkit/partnerkit/internal/grown"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	group = "Growth"
	// most is how much more a million rows may cost than ten thousand.
	most = 1.6
	// purged is how many rows of each kind are purged at a time: in all turns together
	// fewer than there are.
	purged = 80
)

// operation is something that is done often.
type operation struct {
	name string
	each int // times in a turn
	do   func(*grown.Service, context.Context) error
}

// Those that take rows away come last.
var operations = []operation{
	{"token verification", 300, (*grown.Service).Verify},
	{"introspection", 300, (*grown.Service).Introspect},
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

// SQLite measures on files.
func SQLite(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return measure(p, r, "SQLite", func(ctx context.Context, n int) (*grown.Service, error) {
		return grown.OnSQLite(ctx, dir, n, plain)
	})
}

// Postgres measures on a server, in a schema for each size.
func Postgres(p bench.Plan, r *report.Report, url string) error {
	run := time.Now().UnixNano()
	return measure(p, r, "PostgreSQL", func(ctx context.Context, n int) (*grown.Service, error) {
		return grown.OnPostgres(ctx, url, fmt.Sprintf("pk_bench_%d_%d", run, n), n, plain)
	})
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
func measure(p bench.Plan, r *report.Report, database string, open func(ctx context.Context, n int) (*grown.Service, error)) (err error) {
	ctx := context.Background()
	all := sizes(p)
	services := make([]*grown.Service, len(all))
	for i, n := range all {
		begun := time.Now()
		if services[i], err = open(ctx, n); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, services[i].Close()) }()
		fmt.Fprintf(os.Stderr, "%s: %d rows of each kind in %v\n", database, n, time.Since(begun).Round(100*time.Millisecond))
	}
	for _, op := range operations {
		sides := make([]bench.Side, len(all))
		for i, n := range all {
			sides[i] = bench.Side{Name: fmt.Sprintf("%s, %d rows", op.name, n), Each: op.each, Do: func(times int) error {
				for range times {
					if err := op.do(services[i], ctx); err != nil {
						return err
					}
				}
				return nil
			}}
		}
		measured, err := p.Compare(9, sides...)
		if err != nil {
			return err
		}
		plot := report.Plot{Group: group, Name: op.name, Line: database, Sizes: all}
		for _, one := range measured {
			plot.Values = append(plot.Values, float64(one.Wall)/float64(time.Microsecond))
		}
		r.Plots = append(r.Plots, plot)
		r.Add(row(op.name+" on "+database, all, measured))
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
			out.Bar, out.Missed = fmt.Sprintf("at most %.1f", most), one.Ratio(least) > most
		}
	}
	return out
}
