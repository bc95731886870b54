package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// gathering counts runs; each waits for its turn.
type gathering struct {
	*gather[int]
	began chan []int
	end   chan error
	ctx   context.Context // of the last run
}

func newGathering(few, runs int) *gathering {
	g := &gathering{began: make(chan []int, 10), end: make(chan error)}
	g.gather = &gather[int]{few: few, runs: runs, run: func(ctx context.Context, calls []int) error {
		g.ctx = ctx
		g.began <- slices.Clone(calls)
		select {
		case err := <-g.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	return g
}

// call enters, and sends what the call was told.
func (g *gathering) call(ctx context.Context, n int) <-chan error {
	told := make(chan error, 1)
	entered := g.enter(ctx, n)
	go func() {
		defer g.leave()
		if entered == nil {
			told <- nil
			return
		}
		told <- g.wait(entered)
	}()
	synctest.Wait()
	return told
}

func TestFewRunThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGathering(2, 1)
		for range 2 {
			if g.enter(t.Context(), 1) != nil {
				t.Error("one of two was not for its caller")
			}
		}
		third := g.call(t.Context(), 3)
		if got := <-g.began; !slices.Equal(got, []int{3}) {
			t.Errorf("a run of %v", got)
		}
		g.end <- nil
		if err := <-third; err != nil {
			t.Error(err)
		}
		g.leave()
		if g.enter(t.Context(), 4) != nil {
			t.Error("one of two, after others left, was not for its caller")
		}
	})
}

func TestThoseWhoCameMeanwhileRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGathering(0, 2)
		lost := errors.New("lost")
		var told []<-chan error
		for n := range 9 {
			told = append(told, g.call(t.Context(), n))
		}
		var runs [][]int
		for _, err := range []error{nil, nil, lost, nil, nil} {
			synctest.Wait()
			for len(g.began) > 0 {
				runs = append(runs, <-g.began)
			}
			g.end <- err
		}
		// Two at once; then as many as have statements of one size.
		if want := [][]int{{0}, {1}, {2, 3, 4, 5}, {6, 7}, {8}}; !cmp.Equal(runs, want) {
			t.Fatalf("runs of %v", runs)
		}
		failed := 0
		for _, c := range told {
			if errors.Is(<-c, lost) {
				failed++
			}
		}
		if failed != 1 && failed != 2 && failed != 4 { // all of one run, whichever ended with it
			t.Errorf("%d were told of one failure", failed)
		}
	})
}

func TestCallersWhoGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGathering(0, 1)
		first := g.call(t.Context(), 0)
		<-g.began
		one, goOne := context.WithCancel(t.Context())
		two, goTwo := context.WithCancel(t.Context())
		early, goEarly := context.WithCancel(t.Context())
		gone, goAtOnce := context.WithCancel(t.Context())
		goAtOnce()
		g.enter(gone, 4) // who does not notice yet
		a, b, c := g.call(one, 1), g.call(early, 2), g.call(two, 3)
		goEarly()
		if err := <-b; !errors.Is(err, context.Canceled) {
			t.Errorf("who went before its run was told %v", err)
		}
		g.end <- nil
		if err := <-first; err != nil {
			t.Error(err)
		}
		if got := <-g.began; !slices.Equal(got, []int{1, 3}) {
			t.Fatalf("a run of %v", got)
		}
		goOne()
		synctest.Wait()
		if g.ctx.Err() != nil {
			t.Error("the run ended with one of its callers")
		}
		if err := <-a; !errors.Is(err, context.Canceled) {
			t.Errorf("who went during its run was told %v", err)
		}
		goTwo()
		if err := <-c; !errors.Is(err, context.Canceled) {
			t.Errorf("the last one who went was told %v", err)
		}
		synctest.Wait()
		if g.ctx.Err() == nil {
			t.Error("the run goes on without its callers")
		}
	})
}

// Who is alone in a run is told what came of it, even after going.
func TestOnlyCallerWhoGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		g := &gather[int]{runs: 1, run: func(context.Context, []int) error {
			<-done
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		only := (&gathering{gather: g}).call(ctx, 1)
		cancel()
		synctest.Wait()
		close(done)
		if err := <-only; err != nil {
			t.Error(err)
		}
	})
}

// What breaks a run reaches each of its callers, and the next run comes.
func TestBrokenRuns(t *testing.T) {
	for name, test := range map[string]struct {
		run func()
		is  func(err error, panicked any) bool
	}{
		"panic":  {func() { panic("broken") }, func(_ error, panicked any) bool { return panicked == "broken" }},
		"Goexit": {runtime.Goexit, func(err error, _ any) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, breaks := &gather[int]{runs: 1}, make(chan bool)
				g.run = func(context.Context, []int) error {
					if <-breaks {
						test.run()
					}
					return nil
				}
				var told []func() (any, error)
				for range 4 { // one that runs, and others who wait
					entered := g.enter(t.Context(), 1)
					synctest.Wait()
					told = append(told, func() (panicked any, err error) {
						defer func() { panicked = recover() }()
						return nil, g.wait(entered)
					})
				}
				breaks <- false
				breaks <- true
				breaks <- false
				for i, wait := range told {
					panicked, err := wait()
					if isBroken := i == 1 || i == 2; isBroken != test.is(err, panicked) || !isBroken && err != nil {
						t.Errorf("call %d: %v, %v", i, err, panicked)
					}
				}
			})
		})
	}
}
