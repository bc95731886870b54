package partnerkit_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
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

// runningStore notes when its Run ends.
type runningStore struct {
	partnerkit.Store
	started chan struct{}
	ended   *log
}

func (s runningStore) Run(ctx context.Context) error {
	close(s.started)
	<-ctx.Done()
	s.ended.note("store")
	return nil
}

// Serve serves each server until its context ends, and runs the store meanwhile.
func TestServe(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	store := runningStore{cfg.Store, make(chan struct{}), new(log)}
	cfg.Store = store
	p := platform(t, cfg)
	addresses := make(chan string, 1)
	server := &http.Server{Addr: "127.0.0.1:0", Handler: p.API(), BaseContext: func(l net.Listener) context.Context {
		addresses <- l.Addr().String()
		return context.Background()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, server) }()
	address := <-addresses
	if err := p.Serve(ctx, &http.Server{Addr: address, Handler: p.App()}); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("a taken address: %v", err)
	}
	res, err := http.Get("http://" + address + "/.well-known/oauth-authorization-server")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
	<-store.started
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if want := []string{"store"}; !slices.Equal(store.ended.lines, want) {
		t.Errorf("ended: %v, want %v", store.ended.lines, want)
	}
}

// The end of its context is how a Run is stopped, and no error.
func TestRunStops(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	p := platform(t, cfg)
	all := partnerkit.Loops(p)
	all["platform"] = p.Run
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
