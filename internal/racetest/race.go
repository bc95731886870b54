package racetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A step that has not finished is polled every askEvery. A cycle of waiting contenders that
// is seen sureAfter times is a deadlock. A step that neither ends nor waits within
// stuckAfter ends the exploration.
const (
	askEvery   = 500 * time.Microsecond
	sureAfter  = 3
	stuckAfter = time.Minute
)

// race is one run of contenders that stop before each statement. One contender at a time is
// released, and runs to its next stop, to its end, or into a lock that another contender
// holds.
type race struct {
	arrivals chan arrival
	release  []chan struct{}
	freed    chan struct{} // closed: contenders no longer stop

	state     []position
	waits     waits
	deadlocks int

	// wholeOperations reports that a contender inside a transaction is released until the
	// transaction ends.
	wholeOperations bool
	// before is called before each release, with the contender.
	before func(contender int) error
}

type position string

const (
	running position = "running" // or waiting for a lock
	outside position = "outside" // stopped outside a transaction
	inside  position = "inside"  // stopped in a transaction
	ended   position = "ended"
)

type arrival struct {
	contender int
	as        position
}

// choice is one point of a schedule: the contenders that could go on, and the one that did.
type choice struct {
	enabled []int
	chosen  int
}

// waits returns, for each of the given contenders, the contenders that it waits for.
// Contenders that do not wait are absent.
type waits func(ctx context.Context, contenders []int) (map[int][]int, error)

func newRace(contenders int, w waits) *race {
	r := &race{arrivals: make(chan arrival, contenders), freed: make(chan struct{}), waits: w}
	for range contenders {
		r.release = append(r.release, make(chan struct{}))
		r.state = append(r.state, running)
	}
	return r
}

// stop is called by a contender and returns once the contender is released.
func (r *race) stop(contender int, at position) {
	r.arrivals <- arrival{contender, at}
	select {
	case <-r.release[contender]:
	case <-r.freed:
	}
}

// play starts the contenders and releases one step after the other, as choose selects,
// until all have ended.
func (r *race) play(ctx context.Context, contenders []func(), choose func(enabled []int) int) ([]choice, error) {
	for contender, contend := range contenders {
		go func() {
			contend()
			r.arrivals <- arrival{contender, ended}
		}()
	}
	var trace []choice
	known := -1 // the repeatable length of the trace: the victim of a deadlock is random
	for {
		if err := r.settle(ctx); err != nil {
			return trace, errors.Join(err, r.free())
		}
		if r.deadlocks > 0 && known < 0 {
			known = len(trace)
		}
		enabled := r.in(inside)
		if !r.wholeOperations || len(enabled) == 0 {
			enabled = r.in(outside, inside)
		}
		switch {
		case len(enabled) > 0:
		case known >= 0:
			return trace[:known], nil
		default:
			return trace, nil // all contenders have ended
		}
		chosen := choose(enabled)
		if !slices.Contains(enabled, chosen) {
			return trace, errors.Join(fmt.Errorf("racetest: after %v contender %d cannot go on as in the previous run: runs are not repeatable", chosenOf(trace), chosen), r.free())
		}
		trace = append(trace, choice{enabled, chosen})
		if r.before != nil {
			if err := r.before(chosen); err != nil {
				return trace, errors.Join(err, r.free())
			}
		}
		r.state[chosen] = running
		r.release[chosen] <- struct{}{}
	}
}

// settle returns when no contender runs: each has stopped, has ended, or waits for a
// stopped contender.
func (r *race) settle(ctx context.Context) error {
	began, circles := time.Now(), 0
	for len(r.in(running)) > 0 {
		select {
		case a := <-r.arrivals:
			r.state[a.contender] = a.as
			continue
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askEvery):
		}
		waiting, err := r.waits(ctx, r.in(running))
		if err != nil {
			return err
		}
		switch {
		case r.allHeld(waiting):
			return nil
		case len(waiting) == len(r.in(running)): // for each other: the database will abort one transaction
			if circles++; circles == sureAfter {
				r.deadlocks++
			}
		case time.Since(began) > stuckAfter:
			return errors.New("racetest: a step neither ends nor waits for a lock")
		}
	}
	return nil
}

// allHeld reports whether every running contender waits, directly or through other
// contenders, for a stopped one.
func (r *race) allHeld(waiting map[int][]int) bool {
	held := map[int]bool{}
	for _, contender := range r.in(outside, inside) {
		held[contender] = true
	}
	for range r.state { // the longest possible chain
		for contender, on := range waiting {
			held[contender] = held[contender] || slices.ContainsFunc(on, func(other int) bool { return held[other] })
		}
	}
	return !slices.ContainsFunc(r.in(running), func(contender int) bool { return !held[contender] })
}

// free lets every contender run to its end after the exploration has failed.
func (r *race) free() error {
	close(r.freed)
	for len(r.in(ended)) < len(r.state) {
		select {
		case a := <-r.arrivals:
			r.state[a.contender] = a.as
		case <-time.After(stuckAfter):
			return errors.New("racetest: a contender does not end")
		}
	}
	return nil
}

func (r *race) in(states ...position) (contenders []int) {
	for contender, is := range r.state {
		if slices.Contains(states, is) {
			contenders = append(contenders, contender)
		}
	}
	return contenders
}

func chosenOf(trace []choice) (chosen []int) {
	for _, c := range trace {
		chosen = append(chosen, c.chosen)
	}
	return chosen
}

// next returns the prefix of the next schedule in depth-first order: up to the last choice
// with an untried alternative. It returns nil after the last schedule.
func next(trace []choice) []int {
	for i, c := range slices.Backward(trace) {
		if at := slices.Index(c.enabled, c.chosen); at+1 < len(c.enabled) {
			return append(chosenOf(trace[:i]), c.enabled[at+1])
		}
	}
	return nil
}
