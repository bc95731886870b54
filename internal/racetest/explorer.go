package racetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// maxContenders is the largest number of contenders in a race.
const maxContenders = 3

// explorer runs races one after the other. Each contender has its own node; one more node
// creates scenarios, asks PostgreSQL for blocked sessions, and checks results.
type explorer struct {
	t     testing.TB
	store *sqlstore.Store
	nodes []*node
	known map[string]outcome // outcomes of serial runs
	crash func(ctx context.Context) (storage.DB, error)
}

// node is a contender's connection to the database.
type node struct {
	store   *sqlstore.Store
	gate    *gate
	tap     *testdb.Tap
	session atomic.Int64 // the database session's process id
	killed  bool         // its session was terminated in this run
}

func newExplorer(t testing.TB, db Database) (*explorer, error) {
	ctx := t.Context()
	own := db.Connect(t)
	e := &explorer{t: t, known: map[string]outcome{}, crash: db.Crash}
	cfg := sqlstore.Config{SkipMigrations: true}
	var err error
	if e.store, err = sqlstore.New(ctx, oneProcess{own, e}, sqlstore.Config{}); err != nil {
		return nil, err
	}
	for i := range maxContenders {
		on := own
		if !own.Dialect().IsOneProcess {
			on = db.Connect(t)
		}
		l := &node{tap: testdb.NewTap(on)}
		l.gate = &gate{DB: l.tap, contender: i, begin: l.begin}
		if own.Dialect().IsOneProcess {
			l.store = e.store
		} else if l.store, err = sqlstore.New(ctx, l.gate, cfg); err != nil {
			return nil, err
		}
		e.nodes = append(e.nodes, l)
	}
	return e, nil
}

func (e *explorer) isSerial() bool { return e.store.Dialect().IsOneProcess }

// learn reads the id of the node's current session. A connection pool may have changed it.
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

// begin is called when a transaction begins. An operation whose session was terminated may
// continue in another session.
func (l *node) begin(ctx context.Context, tx storage.Tx) error {
	if !l.killed {
		return nil
	}
	return l.learnFrom(ctx, tx)
}

// waits asks PostgreSQL which contenders each contender waits for. Other sessions are
// ignored.
func (e *explorer) waits(ctx context.Context, contenders []int) (map[int][]int, error) {
	found := map[int][]int{}
	if e.isSerial() {
		return found, nil // a step ends by itself
	}
	for _, i := range contenders {
		var list string
		err := storage.One(ctx, e.store, "SELECT array_to_string(pg_blocking_pids($1), ' ')", []any{e.nodes[i].session.Load()}, &list)
		if err != nil {
			return nil, err
		}
		for _, text := range strings.Fields(list) {
			session, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, err
			}
			if other := slices.IndexFunc(e.nodes, func(l *node) bool { return l.session.Load() == session }); other >= 0 {
				found[i] = append(found[i], other)
			}
		}
	}
	return found, nil
}

// plan describes a run.
type plan struct {
	operations      []operation
	choose          func(enabled []int) int
	wholeOperations bool
	skip            []int // contenders that do nothing
	// strike is called before the run, to arm the taps of the contenders.
	strike func(nodes []*node)
	// before is called before each step, and once after the last.
	before func(at moment) error
}

// moment is the state of a run between two steps.
type moment struct {
	contender int // the contender released next; -1 after the last step
	nth       int // the number of its stop, from 1
	state     []position
	scenario  *scenario
	all       []result // by contender; fault for contenders that have not ended
}

// run creates a scenario, races the operations in it, and checks the result.
func (e *explorer) run(ctx context.Context, p plan) (findings, []choice, error) {
	sc, err := e.scenario(p.operations)
	if err != nil {
		return findings{}, nil, fmt.Errorf("create a scenario: %w", err)
	}
	r := newRace(len(p.operations), e.waits)
	r.wholeOperations = p.wholeOperations
	all, stops := make([]result, len(p.operations)), make([]int, len(p.operations))
	if p.before != nil {
		r.before = func(contender int) error {
			stops[contender]++
			return p.before(moment{contender, stops[contender], r.state, sc, all})
		}
	}
	var contend []func()
	for i, a := range p.operations {
		if err := e.nodes[i].learn(ctx); err != nil {
			return findings{}, nil, err
		}
		all[i] = result{operation: a, answer: fault, isStruck: true}
		e.nodes[i].gate.race = r
		contend = append(contend, func() {
			if !slices.Contains(p.skip, i) {
				all[i] = e.nodes[i].contend(ctx, sc, i, a)
			}
		})
	}
	if p.strike != nil {
		p.strike(e.nodes)
	}
	trace, err := r.play(ctx, contend, p.choose)
	for _, l := range e.nodes {
		l.gate.race, l.killed = nil, false
		l.tap.Reset()
	}
	if err != nil {
		return findings{}, trace, err
	}
	if p.before != nil {
		if err := p.before(moment{-1, 0, r.state, sc, all}); err != nil {
			return findings{}, trace, err
		}
	}
	v, err := sc.check(ctx, e.store, all)
	if err != nil {
		return v, trace, err
	}
	if r.deadlocks > 0 {
		v.add("deadlock: the operations waited for each other")
	}
	return v, trace, nil
}

// contend performs the operation once.
func (l *node) contend(ctx context.Context, sc *scenario, contender int, a operation) result {
	ctx, cancel := l.tap.Cancellable(context.WithValue(ctx, contending{}, l))
	defer cancel()
	got, err := sc.do(ctx, contender, l.store)
	return result{operation: a, answer: got, err: err, isStruck: l.tap.Struck() || l.killed}
}

// contending is the key of the contender's *node in the context of an operation.
type contending struct{}

// oneProcess is the database of the store that creates scenarios. In a database of one
// process the contenders share that store, as requests to a server do, and each goes through
// its own gate.
type oneProcess struct {
	storage.DB
	explorer *explorer
}

func (p oneProcess) of(ctx context.Context) storage.DB {
	if l, ok := ctx.Value(contending{}).(*node); ok && p.explorer.isSerial() {
		return l.gate
	}
	return p.DB
}

func (p oneProcess) Write(ctx context.Context, operation storage.Operation) error {
	return p.of(ctx).Write(ctx, operation)
}

func (p oneProcess) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return p.of(ctx).Exec(ctx, query, args...)
}

func (p oneProcess) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	return p.of(ctx).Query(ctx, query, args...)
}
