package racetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A step that has not finished is asked about every askEvery. A circle of waiting
// that is seen sureAfter times is a deadlock, and a step that neither ends nor waits
// for stuckAfter ends the exploration.
const (
	askEvery   = 500 * time.Microsecond
	sureAfter  = 3
	stuckAfter = time.Minute
)

// race is one run of contenders that stop before each statement. One at a time is
// released, and runs until its next stop, its end, or a lock that another holds.
type race struct {
	arrivals chan arrival
	release  []chan struct{}
	freed    chan struct{} // closed: nobody stops any more

	state     []laneState
	waits     waits
	deadlocks int

	// wholeActs: whoever is inside of a transaction goes on until its end.
	wholeActs bool
	// before is called before each release, with the lane.
	before func(lane int) error
}

type laneState string

const (
	running laneState = "running" // or waiting for a lock
	outside laneState = "outside" // stopped, and no transaction of it is open
	inside  laneState = "inside"  // stopped in a transaction
	ended   laneState = "ended"
)

type arrival struct {
	lane int
	as   laneState
}

// choice is one point of a schedule: who could go on, and who did.
type choice struct {
	enabled []int
	chosen  int
}

// waits tells which lanes each of the given ones waits for; those that wait for
// none are absent.
type waits func(ctx context.Context, lanes []int) (map[int][]int, error)

func newRace(lanes int, w waits) *race {
	r := &race{arrivals: make(chan arrival, lanes), freed: make(chan struct{}), waits: w}
	for range lanes {
		r.release = append(r.release, make(chan struct{}))
		r.state = append(r.state, running)
	}
	return r
}

// stop is called by a contender, and returns when it may go on.
func (r *race) stop(lane int, at laneState) {
	r.arrivals <- arrival{lane, at}
	select {
	case <-r.release[lane]:
	case <-r.freed:
	}
}

// play starts the contenders and releases one step after the other as choose
// says, until all have ended.
func (r *race) play(ctx context.Context, contenders []func(), choose func(enabled []int) int) ([]choice, error) {
	for lane, contend := range contenders {
		go func() {
			contend()
			r.arrivals <- arrival{lane, ended}
		}()
	}
	var trace []choice
	known := -1 // how much of the trace can be repeated: whom a deadlock ends is chance
	for {
		if err := r.settle(ctx); err != nil {
			return trace, errors.Join(err, r.free())
		}
		if r.deadlocks > 0 && known < 0 {
			known = len(trace)
		}
		enabled := r.in(inside)
		if !r.wholeActs || len(enabled) == 0 {
			enabled = r.in(outside, inside)
		}
		switch {
		case len(enabled) > 0:
		case known >= 0:
			return trace[:known], nil
		default:
			return trace, nil // all have ended
		}
		chosen := choose(enabled)
		if !slices.Contains(enabled, chosen) {
			return trace, errors.Join(fmt.Errorf("racetest: after %v the contender %d cannot go on, as it could before: the run is not repeatable", chosenOf(trace), chosen), r.free())
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

// settle returns when no lane runs: each has stopped, ended, or waits for one
// that has stopped, and so waits until that one is released.
func (r *race) settle(ctx context.Context) error {
	began, circles := time.Now(), 0
	for len(r.in(running)) > 0 {
		select {
		case a := <-r.arrivals:
			r.state[a.lane] = a.as
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
		case len(waiting) == len(r.in(running)): // for each other: the database will end one of them
			if circles++; circles == sureAfter {
				r.deadlocks++
			}
		case time.Since(began) > stuckAfter:
			return errors.New("racetest: a step neither ends nor waits for a lock")
		}
	}
	return nil
}

// allHeld reports whether every running lane waits, perhaps through others, for
// one that has stopped.
func (r *race) allHeld(waiting map[int][]int) bool {
	held := map[int]bool{}
	for _, lane := range r.in(outside, inside) {
		held[lane] = true
	}
	for range r.state { // as often as a chain can be long
		for lane, on := range waiting {
			held[lane] = held[lane] || slices.ContainsFunc(on, func(other int) bool { return held[other] })
		}
	}
	return !slices.ContainsFunc(r.in(running), func(lane int) bool { return !held[lane] })
}

// free lets everybody run to the end, after a failure of the exploration.
func (r *race) free() error {
	close(r.freed)
	for len(r.in(ended)) < len(r.state) {
		select {
		case a := <-r.arrivals:
			r.state[a.lane] = a.as
		case <-time.After(stuckAfter):
			return errors.New("racetest: a contender does not end")
		}
	}
	return nil
}

func (r *race) in(states ...laneState) (lanes []int) {
	for lane, is := range r.state {
		if slices.Contains(states, is) {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

func chosenOf(trace []choice) (chosen []int) {
	for _, c := range trace {
		chosen = append(chosen, c.chosen)
	}
	return chosen
}

// next is the schedule after this one, in the order of a depth-first search: the
// prefix up to the last point at which somebody else could have gone on. nil: this
// was the last.
func next(trace []choice) []int {
	for i, c := range slices.Backward(trace) {
		if at := slices.Index(c.enabled, c.chosen); at+1 < len(c.enabled) {
			return append(chosenOf(trace[:i]), c.enabled[at+1])
		}
	}
	return nil
}
