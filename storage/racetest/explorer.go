package racetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// maxLanes is how many contend at most.
const maxLanes = 3

// explorer runs one race after the other, with a node of its own for each
// contender and one more that makes worlds, asks who waits, and judges.
type explorer struct {
	store *sqlstore.Store
	lanes []*node
	known map[string]outcome // of serial runs
	crash func(ctx context.Context) (storage.DB, error)
}

// node is a contender's own way to the database.
type node struct {
	store   *sqlstore.Store
	gate    *gate
	tap     *storetest.Tap
	session atomic.Int64 // of the database, as it calls those who wait
	killed  bool         // in this run
}

func newExplorer(t testing.TB, db Database) (*explorer, error) {
	ctx := t.Context()
	own := db.Connect(t)
	e := &explorer{known: map[string]outcome{}, crash: db.Crash}
	cfg := sqlstore.Config{SkipMigrations: true}
	var err error
	if e.store, err = sqlstore.New(ctx, own, sqlstore.Config{}); err != nil {
		return nil, err
	}
	for i := range maxLanes {
		on := own
		if !own.Dialect().IsOneProcess {
			on = db.Connect(t)
		}
		l := &node{tap: storetest.NewTap(on)}
		l.gate = &gate{DB: l.tap, lane: i, begin: l.begin}
		if l.store, err = sqlstore.New(ctx, l.gate, cfg); err != nil {
			return nil, err
		}
		e.lanes = append(e.lanes, l)
	}
	return e, nil
}

func (e *explorer) isSerial() bool { return e.store.Dialect().IsOneProcess }

// learn asks for the session that the lane has now: a pool may change it.
func (l *node) learn(ctx context.Context) error {
	if l.store.Dialect().IsOneProcess {
		return nil
	}
	return l.learnFrom(ctx, l.store)
}

func (l *node) learnFrom(ctx context.Context, from storage.Querier) error {
	var session int64
	err := storage.One(ctx, from, "SELECT pg_backend_pid()", nil, &session)
	l.session.Store(session)
	return err
}

// begin is called when a transaction begins. An act whose session was ended may go on in
// another.
func (l *node) begin(ctx context.Context, tx storage.Tx) error {
	if !l.killed {
		return nil
	}
	return l.learnFrom(ctx, tx)
}

// waits asks PostgreSQL whom each lane waits for; others than lanes do not count.
func (e *explorer) waits(ctx context.Context, lanes []int) (map[int][]int, error) {
	found := map[int][]int{}
	if e.isSerial() {
		return found, nil // a step ends by itself
	}
	for _, i := range lanes {
		var list string
		err := storage.One(ctx, e.store, "SELECT array_to_string(pg_blocking_pids($1), ' ')", []any{e.lanes[i].session.Load()}, &list)
		if err != nil {
			return nil, err
		}
		for _, text := range strings.Fields(list) {
			session, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, err
			}
			if other := slices.IndexFunc(e.lanes, func(l *node) bool { return l.session.Load() == session }); other >= 0 {
				found[i] = append(found[i], other)
			}
		}
	}
	return found, nil
}

// plan is a run to be made.
type plan struct {
	acts      []act
	choose    func(enabled []int) int
	wholeActs bool
	skip      []int // lanes that do nothing
	// strike is called before the run, to arm the taps of the lanes.
	strike func(lanes []*node)
	// before is called before each step, and once after the last.
	before func(at moment) error
}

// moment is a run that stands still.
type moment struct {
	lane  int // the one that goes on next; -1: nobody
	nth   int // its stop, from 1
	state []laneState
	world *world
	all   []contender // those that have ended; the others have a fault
}

// run makes a world, lets the acts race in it, and judges.
func (e *explorer) run(ctx context.Context, p plan) (verdict, []choice, error) {
	w, err := e.world(ctx, p.acts)
	if err != nil {
		return verdict{}, nil, fmt.Errorf("make a world: %w", err)
	}
	r := newRace(len(p.acts), e.waits)
	r.wholeActs = p.wholeActs
	all, stops := make([]contender, len(p.acts)), make([]int, len(p.acts))
	if p.before != nil {
		r.before = func(lane int) error {
			stops[lane]++
			return p.before(moment{lane, stops[lane], r.state, w, all})
		}
	}
	var contend []func()
	for i, a := range p.acts {
		if err := e.lanes[i].learn(ctx); err != nil {
			return verdict{}, nil, err
		}
		all[i] = contender{act: a, answer: fault, isStruck: true}
		e.lanes[i].gate.race = r
		contend = append(contend, func() {
			if !slices.Contains(p.skip, i) {
				all[i] = e.lanes[i].contend(ctx, call{w: w, lane: w.lanes[i], others: p.acts}, a)
			}
		})
	}
	if p.strike != nil {
		p.strike(e.lanes)
	}
	trace, err := r.play(ctx, contend, p.choose)
	for _, l := range e.lanes {
		l.gate.race, l.killed = nil, false
		l.tap.Reset()
	}
	if err != nil {
		return verdict{}, trace, err
	}
	if p.before != nil {
		if err := p.before(moment{-1, 0, r.state, w, all}); err != nil {
			return verdict{}, trace, err
		}
	}
	v, err := w.judge(ctx, e.store, all)
	if err != nil {
		return v, trace, err
	}
	if r.deadlocks > 0 {
		v.add("deadlock: the acts waited for each other")
	}
	err = w.lastRefresh(ctx, e.store, &v)
	return v, trace, err
}

func (e *explorer) world(ctx context.Context, acts []act) (*world, error) {
	needs := map[need]bool{}
	for _, a := range acts {
		for _, n := range a.needs {
			needs[n] = true
		}
	}
	return newWorld(ctx, e.store, len(acts), needs)
}

// contend performs the act, once.
func (l *node) contend(ctx context.Context, c call, a act) contender {
	ctx, cancel := l.tap.Cancellable(ctx)
	defer cancel()
	c.Store = l.store
	told, err := a.do(ctx, c)
	return contender{act: a, answer: told, err: err, isStruck: l.tap.Struck() || l.killed}
}
