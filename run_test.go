package partnerkit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// log notes what happened, in order.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// until is a loop that ends with its context.
func (l *log) until(name string, started *sync.WaitGroup) partnerkit.Loop {
	return partnerkit.NewLoop(name, func(ctx context.Context) error {
		started.Done()
		<-ctx.Done()
		l.note(name)
		return nil
	})
}

func TestPartsStopInOrder(t *testing.T) {
	t.Parallel()
	var l log
	var started sync.WaitGroup
	started.Add(3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- partnerkit.RunInOrder(ctx, []partnerkit.Loop{l.until("first", &started), l.until("second", &started), l.until("third", &started)})
	}()
	started.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if want := []string{"first", "second", "third"}; !slices.Equal(l.lines, want) {
		t.Errorf("stopped %v, want %v", l.lines, want)
	}
}

func TestPartThatFailsStopsTheOthers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, end := range map[string]error{"with an error": broken, "without": nil} {
		var l log
		var started sync.WaitGroup
		started.Add(1)
		err := partnerkit.RunInOrder(t.Context(), []partnerkit.Loop{
			l.until("other", &started),
			partnerkit.NewLoop("loop", func(context.Context) error { started.Wait(); return end }),
		})
		if err == nil || !strings.Contains(err.Error(), "loop") || end != nil && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(l.lines, []string{"other"}) {
			t.Errorf("%s: stopped %v", name, l.lines)
		}
	}
}

// The end of its context is how a Run is stopped, and no error.
func TestRunStops(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	p := platform(t, cfg)
	all := partnerkit.Loops(p)
	all["platform"] = p.Run
	all["store"] = cfg.Store.(*sqlstore.Store).Run
	for name, run := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canceled, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(canceled) }()
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("canceled: %v", err)
			}
			late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			defer cancel()
			if err := run(late); err != nil {
				t.Errorf("past a deadline: %v", err)
			}
		})
	}
}
