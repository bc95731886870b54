package sqlstore

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// gather has calls that come at the same time run together. While few are under way each
// is for its caller to run, since that is the shortest way; the others run with whoever
// else has come. Nobody waits for company: a run takes those that came during the one
// before.
type gather[C any] struct {
	run  func(ctx context.Context, calls []C) error
	few  int // calls, of which each is for its caller
	runs int // at a time

	mu       sync.Mutex
	underWay int // calls, whoever runs them
	running  int // runs
	waiting  []*gathered[C]
}

// gathered is a call that is run together with others.
type gathered[C any] struct {
	call C
	ctx  context.Context
	// isOnly says that its run has no other, and ends with its caller; set under
	// gather.mu.
	isOnly bool
	over   chan struct{} // closed when its run is over

	// Of the run.
	err      error
	panicked any // raised again in the goroutine of each caller
}

// enter begins a call, which leave ends. It returns nil for one that its caller runs.
func (g *gather[C]) enter(ctx context.Context, call C) *gathered[C] {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underWay++
	if g.underWay <= g.few {
		return nil
	}
	c := &gathered[C]{call: call, ctx: ctx, over: make(chan struct{})}
	g.waiting = append(g.waiting, c)
	if g.running < g.runs {
		g.running++
		go g.work()
	}
	return c
}

func (g *gather[C]) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underWay--
}

// wait returns when the call's run is over, or its caller goes. After an error nobody knows
// what the run did, or will have done.
func (g *gather[C]) wait(c *gathered[C]) error {
	select {
	case <-c.over:
	case <-c.ctx.Done():
		if g.abandon(c) {
			return c.ctx.Err()
		}
		<-c.over
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// abandon leaves the call to its run, if that has begun; the run of a single one is worth
// waiting for, since it ends by itself.
func (g *gather[C]) abandon(c *gathered[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *gathered[C]) bool { return other == c })
	return !c.isOnly
}

// work runs calls until none wait.
func (g *gather[C]) work() {
	for calls := g.take(); len(calls) > 0; calls = g.take() {
		g.runTogether(calls)
	}
}

// take takes calls that wait: as many as there are statements of one size for. One whose
// caller has gone does not begin.
func (g *gather[C]) take() []*gathered[C] {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(c *gathered[C]) bool { return c.ctx.Err() != nil })
	n := len(g.waiting)
	if n == 0 {
		g.running--
		return nil
	}
	n = min(maxMany, 1<<(bits.Len(uint(n))-1))
	calls := g.waiting[:n]
	g.waiting = slices.Clone(g.waiting[n:])
	calls[0].isOnly = n == 1
	return calls
}

// runTogether runs the calls. The run goes on when a caller goes, unless it was the last.
func (g *gather[C]) runTogether(calls []*gathered[C]) {
	ctx := calls[0].ctx
	if len(calls) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		var callers atomic.Int64
		callers.Store(int64(len(calls)))
		for _, c := range calls {
			defer context.AfterFunc(c.ctx, func() {
				if callers.Add(-1) == 0 {
					cancel()
				}
			})()
		}
	}
	all := make([]C, len(calls))
	for i, c := range calls {
		all[i] = c.call
	}
	err, isOver := errors.New("sqlstore: the goroutine of several calls has ended"), false
	defer func() {
		panicked := recover()
		for _, c := range calls {
			c.err, c.panicked = err, panicked
			close(c.over)
		}
		if !isOver && panicked == nil { // runtime.Goexit, which ends this worker, too
			go g.work()
		}
	}()
	err, isOver = g.run(ctx, all), true
}
