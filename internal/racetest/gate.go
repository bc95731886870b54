package racetest

import (
	"context"

	"github.com/partnerkit/partnerkit/storage"
)

// gate is a database that stops its contender before every statement and before the end of
// every transaction. At READ COMMITTED, BEGIN takes no lock and no snapshot, so the stop
// before the first statement covers it too. On a database with one writer, BEGIN takes the
// write lock and has its own stop.
type gate struct {
	storage.DB
	contender int
	race      *race                                          // nil: no stops
	begin     func(ctx context.Context, tx storage.Tx) error // called when a transaction has begun
}

// stop waits until the contender is released.
func (g *gate) stop(at position) {
	if g.race != nil {
		g.race.stop(g.contender, at)
	}
}

// Write implements [storage.DB].
func (g *gate) Write(ctx context.Context, operation storage.Operation) error {
	alone := g.Dialect().IsOneProcess
	if alone {
		g.stop(outside)
	}
	return g.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
		if err := g.begin(ctx, tx); err != nil {
			return err
		}
		gated := &gateTx{on: tx, gate: g, begun: alone}
		err := operation(ctx, gated)
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

// stop stops before a statement. The first stop counts as outside: the transaction has done
// nothing yet.
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
