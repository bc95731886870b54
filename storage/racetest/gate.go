package racetest

import (
	"context"

	"github.com/partnerkit/partnerkit/storage"
)

// gate is a database that stops its one contender before every statement and
// before the end of every transaction. BEGIN takes no lock and no snapshot at READ
// COMMITTED, so the stop before the first statement stands for it too; where one
// writes at a time it takes everything, and has a stop of its own.
type gate struct {
	storage.DB
	lane  int
	race  *race                                          // nil: everything passes
	begin func(ctx context.Context, tx storage.Tx) error // called first
}

// stop waits for the release. Inside of a transaction others may hold back for it.
func (g *gate) stop(at laneState) {
	if g.race != nil {
		g.race.stop(g.lane, at)
	}
}

// Write implements [storage.DB].
func (g *gate) Write(ctx context.Context, act storage.Operation) error {
	alone := g.Dialect().IsOneProcess
	if alone {
		g.stop(outside)
	}
	return g.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
		if err := g.begin(ctx, tx); err != nil {
			return err
		}
		gated := &gateTx{on: tx, gate: g, begun: alone}
		err := act(ctx, gated)
		gated.stop() // before COMMIT, or ROLLBACK
		return err
	})
}

// Exec implements [storage.DB]: the statement and its commit are one step.
func (g *gate) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	g.stop(outside)
	return g.DB.Exec(ctx, query, args...)
}

// Query implements [storage.DB].
func (g *gate) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	g.stop(outside)
	return g.DB.Query(ctx, query, args...)
}

type gateTx struct {
	on    storage.Tx
	gate  *gate
	begun bool
}

// stop is outside for the first statement: nothing has happened yet.
func (x *gateTx) stop() {
	at := outside
	if x.begun {
		at = inside
	}
	x.begun = true
	x.gate.stop(at)
}

func (x *gateTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	x.stop()
	return x.on.Exec(ctx, query, args...)
}

func (x *gateTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	x.stop()
	return x.on.Query(ctx, query, args...)
}
