// Package bench measures things side by side: in short turns, one after the other, so
// that what else the machine does slows all of them down alike. What counts is the
// ratio between them.
package bench

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Side is one way to do the work.
type Side struct {
	Name string
	// Do does it n times and checks each response.
	Do func(n int) error
	// Each is how often it is done in a turn.
	Each int
	// Before is called before each turn, unmeasured. nil: nothing.
	Before func(n int) error
	// Inside is the time of the processor that the work has spent somewhere that is not
	// to be counted, so far; it is taken off that of its thread. nil: nowhere.
	Inside func() time.Duration
}

// Measured is a side, for each time that the work was done, in the middle of all turns.
type Measured struct {
	Name   string
	Wall   time.Duration
	CPU    time.Duration // of the whole process, so of both ends of a connection in it
	Thread time.Duration // of the processor, for the one goroutine that does the work
	Allocs float64
	turns  []turn
}

type turn struct{ wall, cpu, thread time.Duration }

// Plan is how much is measured. The zero value measures what the bars are about.
type Plan struct {
	// Short does everything once and little of it, to see that it works: its ratios
	// mean nothing.
	Short bool
	// Large goes up to ten million rows, where a measurement is about growth.
	Large bool
}

// Compare returns the function of that name, as far as the plan goes.
func (p Plan) Compare(turns int, sides ...Side) ([]Measured, error) {
	if p.Short {
		turns = 1
		for i := range sides {
			sides[i].Each = p.Count(sides[i].Each)
		}
	}
	return Compare(turns, sides...)
}

// Count is n, or a hundredth of it in a short plan.
func (p Plan) Count(n int) int {
	if p.Short {
		return (n + 99) / 100
	}
	return n
}

// Compare runs each side for the given number of turns, after one that is not counted.
func Compare(turns int, sides ...Side) ([]Measured, error) {
	all := make([]Measured, len(sides))
	for i := range turns + 1 {
		for s, side := range sides {
			took, allocs, err := side.turn()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			if i == 0 {
				all[s] = Measured{Name: side.Name, Allocs: allocs}
				continue
			}
			all[s].Allocs = min(all[s].Allocs, allocs)
			all[s].turns = append(all[s].turns, took)
		}
	}
	for i := range all {
		all[i].Wall = Median(each(all[i].turns, func(t turn) time.Duration { return t.wall }))
		all[i].CPU = Median(each(all[i].turns, func(t turn) time.Duration { return t.cpu }))
		all[i].Thread = Median(each(all[i].turns, func(t turn) time.Duration { return t.thread }))
	}
	return all, nil
}

// turn does the work of one turn.
func (s Side) turn() (turn, float64, error) {
	if s.Before != nil {
		if err := s.Before(s.Each); err != nil {
			return turn{}, 0, err
		}
	}
	runtime.GC() // the garbage of the others
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inside := func() time.Duration { return 0 }
	if s.Inside != nil {
		inside = s.Inside
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun, cpu, thread := time.Now(), CPU(), ThreadCPU()-inside()
	err := s.Do(s.Each)
	took := turn{time.Since(begun), CPU() - cpu, ThreadCPU() - inside() - thread}
	runtime.ReadMemStats(&after)
	n := time.Duration(s.Each)
	return turn{took.wall / n, took.cpu / n, took.thread / n}, float64(after.Mallocs-before.Mallocs) / float64(s.Each), err
}

// PerSecond returns how often the work is done in a second.
func (m Measured) PerSecond() float64 { return float64(time.Second) / float64(m.Wall) }

// Ratio returns how much longer m takes than the other: the middle of the ratios of turns
// that stood beside each other.
func (m Measured) Ratio(to Measured) float64 {
	return m.ratio(to, func(t turn) time.Duration { return t.wall })
}

// CPURatio is Ratio for the time of the processors.
func (m Measured) CPURatio(to Measured) float64 {
	return m.ratio(to, func(t turn) time.Duration { return t.cpu })
}

// ThreadRatio is Ratio for the time that one goroutine had the processor.
func (m Measured) ThreadRatio(to Measured) float64 {
	return m.ratio(to, func(t turn) time.Duration { return t.thread })
}

func (m Measured) ratio(to Measured, of func(turn) time.Duration) float64 {
	return Median(m.ratios(to, of))
}

// Spread is the range of the ratios that Ratio is the median of, without the lowest and the
// highest quarter.
func (m Measured) Spread(to Measured) string {
	return spread(m.ratios(to, func(t turn) time.Duration { return t.wall }))
}

// ThreadSpread is Spread for ThreadRatio.
func (m Measured) ThreadSpread(to Measured) string {
	return spread(m.ratios(to, func(t turn) time.Duration { return t.thread }))
}

func (m Measured) ratios(to Measured, of func(turn) time.Duration) []float64 {
	ratios := make([]float64, len(m.turns))
	for i := range ratios {
		ratios[i] = float64(of(m.turns[i])) / float64(max(1, of(to.turns[i])))
	}
	return ratios
}

func spread(ratios []float64) string {
	sorted := slices.Sorted(slices.Values(ratios))
	cut := len(sorted) / 4
	return fmt.Sprintf("%.2f to %.2f", sorted[cut], sorted[len(sorted)-1-cut])
}

func each[A, B any](all []A, of func(A) B) []B {
	out := make([]B, len(all))
	for i, one := range all {
		out[i] = of(one)
	}
	return out
}

// Median returns the value in the middle.
func Median[T float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// CPU returns the time that the processors have given to this process.
func CPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it has no way to fail
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// ThreadCPU returns the time that the processors have given to this thread.
func ThreadCPU() time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		panic(err) // it has no way to fail
	}
	return time.Duration(used.Nano())
}

// Parallel splits n over the given number of goroutines and returns the first error. A
// single goroutine is the one of the caller.
func Parallel(goroutines, n int, do func(goroutine, n int) error) error {
	if goroutines == 1 {
		return do(0, n)
	}
	errs := make(chan error, goroutines)
	for g := range goroutines {
		part := n / goroutines
		if g < n%goroutines {
			part++
		}
		go func() { errs <- do(g, part) }()
	}
	var first error
	for range goroutines {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
