package oauth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	moderncsqlite "modernc.org/sqlite"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/driver"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

const group = "OAuth"

// refreshing presents each token to get the next; as many clients do so at a time, each
// with a family of its own.
func refreshing(s *server, clients int) func(n int) error {
	last := make([]string, clients)
	return func(n int) error {
		return bench.Parallel(clients, n, func(client, n int) error {
			if last[client] == "" {
				first, err := s.family()
				if err != nil {
					return err
				}
				last[client] = first.Refresh
			}
			for range n {
				next, err := s.refresh(last[client])
				if err != nil {
					return err
				}
				last[client] = next.Refresh
			}
			return nil
		})
	}
}

// redeeming presents codes that were made before the turn.
func redeeming(s *server, clients int) (before, do func(n int) error) {
	var codes []string
	before = func(n int) error {
		codes = make([]string, n)
		return bench.Parallel(clients, n, func(client, n int) (err error) {
			for i := range n {
				if codes[client+i*clients], err = s.code(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return before, func(n int) error {
		return bench.Parallel(clients, n, func(client, n int) error {
			for i := range n {
				if _, err := s.redeem(codes[client+i*clients]); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Above compares what we do above the database with the whole of the others, which
// keep everything in memory. So that ours does not wait for a disk in between, and comes
// back to a processor that has forgotten it, its file is in memory where that can be.
func Above(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp(memoryDir(), "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	measured, meter := driver.Measure(moderncsqlite.NewConnector)
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "ours.db"), Connector: measured})
	if err != nil {
		return err
	}
	defer store.Close()
	our, err := newOurs(store)
	if err != nil {
		return err
	}
	light, err := newFosite("fosite, SHA-256", sha256Hasher{})
	if err != nil {
		return err
	}
	slow, err := newFosite("fosite, bcrypt 12", nil)
	if err != nil {
		return err
	}
	simple, err := newGoOAuth2()
	if err != nil {
		return err
	}
	signing, err := newZitadel()
	if err != nil {
		return err
	}
	others := []*server{light, simple, signing, slow}
	each := map[*server]int{light: 250, simple: 250, signing: 10, slow: 1}
	for _, operation := range []string{"refresh", "code exchange"} {
		side := func(s *server, each int) bench.Side {
			one := bench.Side{Name: s.name, Each: each}
			if operation == "refresh" {
				one.Do = refreshing(s, 1)
			} else {
				one.Before, one.Do = redeeming(s, 1)
			}
			return one
		}
		ours := side(our, 250)
		ours.Inside = func() time.Duration { return meter.CPU() + meter.OwnCPU() }
		sides := []bench.Side{ours}
		for _, s := range others {
			sides = append(sides, side(s, each[s]))
		}
		measured, err := p.Compare(21, sides...)
		if err != nil {
			return err
		}
		allocs, err := allocsAbove(ours, meter)
		if err != nil {
			return err
		}
		r.Add(aboveRow(operation, measured, allocs))
	}
	return nil
}

// memoryDir returns a directory in memory; empty where there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// allocsAbove returns how many allocations are made outside of the driver.
func allocsAbove(s bench.Side, meter *driver.Meter) (float64, error) {
	s.Each, s.Inside = 50, nil
	do := s.Do
	s.Do = func(n int) error { // what is made before a turn does not count
		meter.CountAllocs(true)
		defer meter.CountAllocs(false)
		return do(n)
	}
	before := meter.Allocs()
	measured, err := bench.Compare(1, s)
	if err != nil {
		return 0, err
	}
	inside := float64(meter.Allocs()-before) / float64(2*s.Each) // two turns
	return measured[0].Allocs - inside, nil
}

func aboveRow(operation string, measured []bench.Measured, allocs float64) report.Row {
	const most = 1.3
	our, light, simple := measured[0], measured[1], measured[2]
	row := report.Row{
		Group: group, Operation: operation + ", without the database", Ours: our.Thread.String(), Allocs: fmt.Sprintf("%.0f", allocs),
		Ratios: fmt.Sprintf("%.2f of %s, %.2f of %s", our.ThreadRatio(light), light.Name, our.ThreadRatio(simple), simple.Name),
		Spread: our.ThreadSpread(light),
		Bar:    fmt.Sprintf("at most %.1f", most),
		Missed: our.ThreadRatio(light) > most || our.ThreadRatio(simple) > most,
	}
	for _, other := range measured[1:] {
		row.Others = append(row.Others, fmt.Sprintf("%s %v (%.0f allocations)", other.Name, other.Thread, other.Allocs))
	}
	return row
}
