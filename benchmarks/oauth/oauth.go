package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/partnerkit/partnerkit/benchmarks/bench"
	"github.com/partnerkit/partnerkit/benchmarks/driver"
	"github.com/partnerkit/partnerkit/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

const group = "OAuth"

// refreshing presents each token to get the next.
func refreshing(s *server) func(n int) error {
	token := ""
	return func(n int) error {
		if token == "" {
			first, err := s.family()
			if err != nil {
				return err
			}
			token = first.Refresh
		}
		for range n {
			next, err := s.refresh(token)
			if err != nil {
				return err
			}
			token = next.Refresh
		}
		return nil
	}
}

// redeeming presents codes that were made before the turn.
func redeeming(s *server) (before, do func(n int) error) {
	var codes []string
	return func(n int) error {
			codes = codes[:0]
			for range n {
				code, err := s.code()
				if err != nil {
					return err
				}
				codes = append(codes, code)
			}
			return nil
		}, func(n int) error {
			for _, code := range codes[:n] {
				if _, err := s.redeem(code); err != nil {
					return err
				}
			}
			return nil
		}
}

// Above compares what we do above the database with the whole of the others, which
// keep everything in memory.
func Above(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	meter, err := driver.Register("sqlite-measured", "sqlite")
	if err != nil {
		return err
	}
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "ours.db"), Driver: "sqlite-measured"})
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
	each := map[*server]int{light: 500, simple: 500, signing: 40, slow: 2}
	for _, operation := range []string{"refresh", "code exchange"} {
		side := func(s *server, each int) bench.Side {
			one := bench.Side{Name: s.name, Each: each}
			if operation == "refresh" {
				one.Do = refreshing(s)
			} else {
				one.Before, one.Do = redeeming(s)
			}
			return one
		}
		ours := side(our, 200)
		ours.Inside = func() time.Duration { return meter.CPU() + meter.OwnCPU() }
		sides := []bench.Side{ours}
		for _, s := range others {
			sides = append(sides, side(s, each[s]))
		}
		measured, err := p.Compare(5, sides...)
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

// allocsAbove is how many allocations are made outside of the driver.
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
	const mostAllocs = 120
	our, light, simple := measured[0], measured[1], measured[2]
	row := report.Row{
		Group: group, Operation: operation + ", without the database", Ours: our.Thread.String(), Allocs: fmt.Sprintf("%.0f", allocs),
		Ratios: fmt.Sprintf("%.2f of %s, %.2f of %s", our.ThreadRatio(light), light.Name, our.ThreadRatio(simple), simple.Name),
		Bar:    fmt.Sprintf("below 1, at most %d allocations", mostAllocs),
		Missed: our.ThreadRatio(light) >= 1 || our.ThreadRatio(simple) >= 1 || allocs > mostAllocs,
	}
	for _, other := range measured[1:] {
		row.Others = append(row.Others, fmt.Sprintf("%s %v (%.0f allocations)", other.Name, other.Thread, other.Allocs))
	}
	return row
}

// rowsWritten is what a refresh and a code exchange write each.
const rowsWritten = 4

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
	our, err := newOurs(store)
	if err != nil {
		return err
	}
	bare, stop, err := bareCommits(filepath.Join(dir, "bare.db"))
	if err != nil {
		return err
	}
	defer stop()
	const each = 100
	before, redeem := redeeming(our)
	measured, err := p.Compare(7,
		bench.Side{Name: "bare", Each: each, Do: bare},
		bench.Side{Name: "refresh", Each: each, Do: refreshing(our)},
		bench.Side{Name: "code exchange", Each: each, Before: before, Do: redeem})
	if err != nil {
		return err
	}
	floor := measured[0]
	for _, one := range measured[1:] {
		ratio := one.Ratio(floor)
		r.Add(report.Row{
			Group: group, Operation: one.Name + " on durable SQLite, one client", Ours: one.Wall.String(),
			Floor: fmt.Sprintf("commit of %d rows %v", rowsWritten, floor.Wall), Ratios: fmt.Sprintf("%.2f", ratio), Bar: "at most 1.5", Missed: ratio > 1.5,
		})
	}
	r.Notes = append(r.Notes, fmt.Sprintf("a bare commit of one row reaches the disk %.0f times a second", fsyncs(dir)))
	return nil
}

// bareCommits writes as many rows as a refresh, in a transaction each, as durably.
func bareCommits(file string) (do func(n int) error, stop func(), err error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b BIGINT, c BIGINT)"); err != nil {
		return nil, nil, err
	}
	insert, err := db.Prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
	if err != nil {
		return nil, nil, err
	}
	next := 0
	return func(n int) error {
		for range n {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			own := tx.Stmt(insert)
			for range rowsWritten {
				next++
				if _, err := own.Exec(fmt.Sprintf("row_%026d", next), "a value of some length, as an id has", next, next); err != nil {
					return err
				}
			}
			if err := tx.Commit(); err != nil {
				return err
			}
		}
		return nil
	}, func() { _ = db.Close() }, nil
}

// fsyncs is how often a second a write of a page reaches the disk.
func fsyncs(dir string) float64 {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0
	}
	defer f.Close()
	page := make([]byte, 4096)
	begun, n := time.Now(), 0
	for ; time.Since(begun) < 500*time.Millisecond; n++ {
		if _, err := f.Write(page); err != nil || f.Sync() != nil {
			return 0
		}
	}
	return float64(n) / time.Since(begun).Seconds()
}
