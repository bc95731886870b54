package redislimit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// Limiter is a ratelimit.Limiter on Redis. Make one with New; it is safe for
// concurrent use and needs no closing.
type Limiter struct {
	store     *store
	flights   *flights
	timeout   time.Duration
	onFailure OnFailure
	local     *ratelimit.Memory
	breaker   *breaker
	outage    *outage
}

var (
	_ ratelimit.Limiter = (*Limiter)(nil)
	_ ratelimit.Peeker  = (*Limiter)(nil)
)

// New returns a Limiter. It does not talk to Redis, and fails only when the
// configuration is incomplete or out of bounds.
func New(config Config) (*Limiter, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("redis limiter: %w", err)
	}
	local, err := ratelimit.NewMemory(config.Local)
	if err != nil {
		return nil, fmt.Errorf("redis limiter: %w", err)
	}
	outage, err := newOutage(config)
	if err != nil {
		return nil, fmt.Errorf("redis limiter: %w", err)
	}
	l := &Limiter{
		store:     newStore(config.Client, config.Prefix),
		timeout:   config.Timeout,
		onFailure: config.OnFailure,
		local:     local,
		breaker:   newBreaker(),
		outage:    outage,
	}
	l.flights = &flights{timeout: config.Timeout, call: l.fly}
	return l, nil
}

// Check implements ratelimit.Limiter. Its errors wrap ratelimit.ErrInvalid,
// with FailClosed ratelimit.ErrUnavailable, or the context's error when that
// has ended; the request may have been counted then.
func (l *Limiter) Check(ctx context.Context, now time.Time, req ratelimit.Request) (ratelimit.Result, error) {
	if err := req.Validate(); err != nil {
		return ratelimit.Result{}, err
	}
	tally, err := l.share(ctx, now, &req)
	if err == nil {
		return ratelimit.Decide(now, req, tally), nil
	}
	if err := l.giveUp(ctx, err); err != nil {
		return ratelimit.Result{}, fmt.Errorf("check: %w", err)
	}
	return l.local.Check(ctx, now, req)
}

// Fail implements ratelimit.Limiter. Its errors are those of Check.
func (l *Limiter) Fail(ctx context.Context, now time.Time, failed ratelimit.Lockouts) (ratelimit.Result, error) {
	if err := failed.Validate(); err != nil {
		return ratelimit.Result{}, err
	}
	var tally ratelimit.Tally
	err := l.ask(ctx, time.Now().Add(l.timeout), func(ctx context.Context) (err error) {
		tally, err = l.store.fail(ctx, now, failed)
		return err
	})
	if err != nil {
		if err := l.giveUp(ctx, err); err != nil {
			return ratelimit.Result{}, fmt.Errorf("record failure: %w", err)
		}
		return l.local.Fail(ctx, now, failed)
	}
	result := ratelimit.Decide(now, ratelimit.Request{Lockouts: failed}, tally)
	if result.Allowed && l.onFailure == FailOpen {
		// In memory too, so that an outage does not end the lockouts that this
		// node knows of. It cannot fail: the lockouts are valid.
		_, _ = l.local.Fail(ctx, now, failed)
	}
	return result, nil
}

// Forgive implements ratelimit.Limiter. Its errors are those of Check.
func (l *Limiter) Forgive(ctx context.Context, now time.Time, failed ratelimit.Lockouts) error {
	if err := failed.Validate(); err != nil {
		return err
	}
	_ = l.local.Forgive(ctx, now, failed) // it cannot fail either
	err := l.ask(ctx, time.Now().Add(l.timeout), func(ctx context.Context) error {
		return l.store.forgive(ctx, now, failed)
	})
	if err == nil {
		return nil
	}
	if err := l.giveUp(ctx, err); err != nil {
		return fmt.Errorf("forgive a failure: %w", err)
	}
	return nil
}

// Peek implements ratelimit.Peeker. Its errors are those of Check.
func (l *Limiter) Peek(ctx context.Context, now time.Time, counters []ratelimit.Counter) ([]ratelimit.Quota, error) {
	var failed error
	quotas, err := ratelimit.Peek(now, counters, func() (counts []int64, err error) {
		failed = l.ask(ctx, time.Now().Add(l.timeout), func(ctx context.Context) (err error) {
			counts, err = l.store.read(ctx, now, counters)
			return err
		})
		return counts, failed
	})
	if failed == nil {
		return quotas, err
	}
	if err := l.giveUp(ctx, failed); err != nil {
		return nil, fmt.Errorf("peek: %w", err)
	}
	return l.local.Peek(ctx, now, counters)
}

// errPaused stands for a response from a Redis that is being left alone.
var errPaused = errors.New("redis failed recently and is not called")

// share waits for the flight that includes the check. If the caller's context ends, the
// flight continues for the other checks.
func (l *Limiter) share(ctx context.Context, now time.Time, req *ratelimit.Request) (ratelimit.Tally, error) {
	k := l.store.keys(now, req)
	if k.len() == 0 {
		return ratelimit.Tally{}, nil
	}
	if ctx.Err() != nil {
		return ratelimit.Tally{}, ctx.Err()
	}
	if l.breaker.isPaused() {
		return ratelimit.Tally{}, errPaused
	}
	f, at := l.flights.board(ctx, k)
	select {
	case <-f.done:
	case <-ctx.Done():
		return ratelimit.Tally{}, ctx.Err()
	}
	if f.err != nil {
		return ratelimit.Tally{}, f.err
	}
	counts, ends := f.reply[:len(f.keys.counters)], f.reply[len(f.keys.counters):]
	return tally(req, counts[at.counter:], ends[at.lockout:]), nil
}

// fly asks Redis for all the checks of a flight.
func (l *Limiter) fly(f *flight) {
	defer func() {
		// Here no server catches what a hook of the client might set off.
		if p := recover(); p != nil {
			f.err = fmt.Errorf("the call to redis panicked with a value of type %T: %s", p, debug.Stack())
			l.breaker.failed()
		}
	}()
	f.err = l.ask(f.ctx, f.due, func(ctx context.Context) (err error) {
		f.reply, err = l.store.check(ctx, f.keys)
		return err
	})
}

// ask runs one call until it is due, unless Redis is being left alone.
func (l *Limiter) ask(ctx context.Context, due time.Time, call func(context.Context) error) error {
	if !l.breaker.mayAsk() {
		return errPaused
	}
	limited, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	err := call(limited)
	switch {
	case err == nil:
		l.breaker.succeeded()
	case ctx.Err() == nil: // otherwise the caller's context ended
		l.breaker.failed()
	}
	return err
}

// giveUp reports that Redis did not respond. It returns nil when the local
// limiter is to stand in.
func (l *Limiter) giveUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.outage.report(ctx, err)
	if l.onFailure == FailClosed {
		return fmt.Errorf("%w: %w", ratelimit.ErrUnavailable, err)
	}
	return nil
}
