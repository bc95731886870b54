package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

var errKilled = errors.New("the process was killed")

// process is one life of a sender. When it is killed, its connections are cut and its
// dispatchers reach the database no more, in the middle of their work: commits that had
// begun are kept, all other changes are lost.
type process struct {
	number   int
	svc      *webhooks.Service
	to       *receivers
	stops    []context.CancelFunc // one for each dispatcher
	running  []*sync.WaitGroup
	underWay sync.WaitGroup // calls to the database

	mu       sync.Mutex
	lines    []net.Conn
	isDead   bool
	died     time.Time
	calls    int // that are left before it dies, if it is armed
	isArmed  bool
	isAfter  bool // the last of them is carried out
	problems bytes.Buffer
}

// mortal is the database as a process sees it.
type mortal struct {
	storage.DB
	p *process
}

// ofDispatcher marks the context of what dies with the process. Its host, the
// test, lives on.
type ofDispatcher struct{}

func (d mortal) Write(ctx context.Context, operation storage.Operation) error {
	return d.p.call(ctx, func() error { return d.DB.Write(ctx, operation) })
}

func (d mortal) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = d.p.call(ctx, func() (err error) {
		n, err = d.DB.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

func (d mortal) Query(ctx context.Context, query string, args ...any) (rows storage.Rows, err error) {
	err = d.p.call(ctx, func() (err error) {
		rows, err = d.DB.Query(ctx, query, args...)
		return err
	})
	if err != nil && rows != nil {
		_ = rows.Close()
		return nil, err
	}
	return rows, err
}

func (p *process) call(ctx context.Context, do func() error) error {
	if ctx.Value(ofDispatcher{}) == nil {
		return do()
	}
	may, isLast := p.enter()
	var err error
	if may {
		err = do()
		p.underWay.Done()
	}
	if isLast {
		p.kill()
	}
	if isLast || !may {
		return errKilled
	}
	return err
}

// enter counts a call and reports whether it may be carried out, and whether the
// process dies with it.
func (p *process) enter() (may, isLast bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDead {
		return false, false
	}
	p.calls--
	isLast = p.isArmed && p.calls == 0
	if may = !isLast || p.isAfter; may {
		p.underWay.Add(1)
	}
	return may, isLast
}

func (p *process) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isDead
}

// arm lets the process die at a call to the database from here on; the first is 1.
func (p *process) arm(calls int, isAfter bool) { //nolint:revive // where, not how
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.isArmed, p.isAfter = calls, true, isAfter
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDead {
		return
	}
	p.isDead, p.died = true, time.Now()
	for _, line := range p.lines {
		_ = line.Close()
	}
	for _, stop := range p.stops {
		stop()
	}
}

// join starts a dispatcher.
func (p *process) join() {
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), ofDispatcher{}, true))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops = append(p.stops, stop)
	running := new(sync.WaitGroup)
	running.Go(func() { _ = p.svc.Run(ctx) })
	p.running = append(p.running, running)
}

// leave stops the dispatcher that was started first, and waits for its end.
func (p *process) leave() {
	p.stops[0]()
	p.running[0].Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops, p.running = p.stops[1:], p.running[1:]
}

func (p *process) stop() {
	for len(p.running) > 0 {
		p.leave()
	}
}

// Write takes what the service logs: a process that lives has no reason to.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDead {
		return len(text), nil
	}
	return p.problems.Write(text)
}

// dial connects to the receivers.
func (p *process) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	p.mu.Lock()
	isDead := p.isDead
	p.lines = append(p.lines, near)
	p.mu.Unlock()
	if isDead {
		return nil, errKilled
	}
	select {
	case p.to.conns <- line{far, p.number}:
		return outward{near, p}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// line is a connection that knows where it comes from.
type line struct {
	net.Conn
	process int
}

// outward is the end of a connection that the process has. A process dies at once: between
// the ends of two of its connections it does not write to the second.
type outward struct {
	net.Conn
	p *process
}

func (c outward) Write(b []byte) (int, error) {
	if c.p.isKilled() {
		return 0, errKilled
	}
	return c.Conn.Write(b)
}

// spawn starts a process on the database, as one that opens the file does.
func (m *model) spawn() {
	p := &process{number: len(m.processes) + 1, to: m.receivers}
	var err error
	m.Store, err = sqlstore.New(m.t.Context(), mortal{m.Tap, p}, sqlstore.Config{})
	m.must(err)
	p.svc, err = webhooks.New(webhooks.Config{
		Store: m.Store, Keyring: fixture.Keyring(1), Dial: p.dial, CurrentVersion: modelVersion, Clock: m.clock, // they look at each other every second
		Logger: slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelWarn})), Options: webhooks.Options{AllowLoopback: true, Lease: 4 * time.Second},
	})
	m.must(err)
	m.process = p
	m.processes = append(m.processes, p)
}
