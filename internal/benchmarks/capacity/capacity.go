// Package capacity measures how much work whole nodes do over HTTP: API calls, refreshed
// tokens and delivered events a second, and the memory that this takes. Nodes are processes
// of their own. The client, the receiver of the webhooks, PostgreSQL and Redis run on the
// same machine, so that more nodes do not get more processors.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

const group = "Capacity"

// setup is a number of nodes on one database.
type setup struct {
	name  string
	nodes int
	node  settings
}

// All measures one node on SQLite with its limits in memory and, where there are addresses of
// both services, one, two and three nodes that share PostgreSQL and Redis.
func All(p bench.Plan, r *report.Report, postgresURL, redisURL string) (err error) {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	setups := []setup{{name: "one node on SQLite", nodes: 1, node: settings{SQLite: filepath.Join(dir, "capacity.db")}}}
	if postgresURL == "" || redisURL == "" {
		return measure(p, r, setups...)
	}
	ctx := context.Background()
	schema := fmt.Sprintf("partnerkit_bench_%d_capacity", time.Now().UnixNano())
	defer func() { err = errors.Join(err, drop(ctx, postgresURL, schema)) }()
	for i, name := range []string{"one node", "two nodes", "three nodes"} {
		setups = append(setups, setup{name: name + " on PostgreSQL", nodes: i + 1, node: settings{Postgres: postgresURL, Schema: schema, Redis: redisURL}})
	}
	return measure(p, r, setups...)
}

func drop(ctx context.Context, url, schema string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `DROP SCHEMA IF EXISTS "`+schema+`" CASCADE`)
	return errors.Join(err, conn.Close(ctx))
}

// work is one kind of load.
type work struct {
	name string
	do   func(*load, time.Duration) (float64, error) // returns how often it was done in a second
}

var works = []work{
	{"API calls", (*load).calls},
	{"refreshed tokens", (*load).refreshes},
	{"events, recorded by a call each and delivered", (*load).events},
}

// measure adds one row for each kind of work, and one for the memory.
func measure(p bench.Plan, r *report.Report, setups ...setup) error {
	turns, span := 5, 3*time.Second
	if p.Short {
		turns, span = 1, 100*time.Millisecond
	}
	results := make([][]string, len(works)+1)
	for _, s := range setups {
		rates, memory, err := s.measure(turns, span)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for i, all := range rates {
			results[i] = append(results[i], fmt.Sprintf("%s: %.0f/s (%.0f to %.0f)", s.name, bench.Median(all), slices.Min(all), slices.Max(all)))
		}
		results[len(works)] = append(results[len(works)], fmt.Sprintf("%s: %d MB", s.name, memory>>20))
	}
	for i, work := range works {
		r.Add(report.Row{Group: group, Operation: work.name, Ours: strings.Join(results[i], ", ")})
	}
	r.Add(report.Row{Group: group, Operation: "memory of a node, at most", Ours: strings.Join(results[len(works)], ", ")})
	return nil
}

// measure starts the nodes and returns the rates of all turns, by work, and the most memory
// that a node had.
func (s setup) measure(turns int, span time.Duration) (rates [][]float64, memory int64, err error) {
	to, err := newReceiver()
	if err != nil {
		return nil, 0, err
	}
	defer to.close()
	l, err := s.fill(to)
	if err != nil {
		return nil, 0, err
	}
	defer l.close()
	for range s.nodes {
		n, err := startNode(s.node)
		if err != nil {
			return nil, 0, err
		}
		defer n.stop()
		l.nodes = append(l.nodes, n)
	}
	rates = make([][]float64, len(works))
	for turn := range turns + 1 { // the first turn is not counted
		for i, work := range works {
			rate, err := work.do(l, span)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", work.name, err)
			}
			if turn > 0 {
				rates[i] = append(rates[i], rate)
			}
		}
	}
	for _, n := range l.nodes {
		used, err := n.memory()
		if err != nil {
			return nil, 0, err
		}
		memory = max(memory, used)
	}
	return rates, memory, nil
}

// fill adds the apps to the database and connects them.
func (s setup) fill(to *receiver) (*load, error) {
	ctx := context.Background()
	if s.node.SQLite != "" {
		store, err := sqlite.Open(ctx, sqlite.Config{Path: s.node.SQLite})
		if err != nil {
			return nil, err
		}
		defer store.Close()
		return newLoad(ctx, store, to)
	}
	store, err := postgres.Open(ctx, s.node.Postgres, postgres.Config{Schema: s.node.Schema})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return newLoad(ctx, store, to)
}
