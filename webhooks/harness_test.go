package webhooks_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// harness is a whole sender in a bubble: a real store, the real HTTP client and, over
// pipes, real HTTP servers.
type harness struct {
	*testdb.Env
	t       *testing.T
	svc     *webhooks.Service
	log     *events.Log
	net     *pipeNet
	clock   *clock.Offset
	logged  *logtest.Buffer
	running sync.WaitGroup
	stop    context.CancelFunc
}

// inBubble runs a test on a harness whose dispatcher runs.
func inBubble(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{})
		r.start()
		test(t, r)
	})
}

func newHarness(t *testing.T, cfg webhooks.Config) *harness {
	t.Helper()
	r := &harness{t: t, clock: new(clock.Offset), logged: new(logtest.Buffer)}
	r.net = newPipeNet(t, r.clock)
	r.Env = testdb.NewEnv(t, func(t testing.TB) storage.DB {
		db := testdb.SQLite(t)
		t.Cleanup(r.halt) // before it is closed
		return db
	})
	cfg.Store, cfg.Keyring, cfg.AllowLoopback = r.Store, fixture.Keyring(1), true
	cfg.Dial = r.net.dial
	cfg.CurrentVersion, cfg.Clock = "2026-09-01", r.clock
	cfg.Logger = slog.New(slog.NewTextHandler(r.logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var err error
	if r.svc, err = webhooks.New(cfg); err != nil {
		t.Fatal(err)
	}
	if r.log, err = events.New(events.Config{Store: r.Store, Clock: r.clock}); err != nil {
		t.Fatal(err)
	}
	return r
}

// start runs the dispatcher, halt stops it and waits for its end.
func (r *harness) start() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.running.Go(func() {
		if err := r.svc.Run(ctx); err != nil {
			r.t.Errorf("Run = %v", err)
		}
	})
}

func (r *harness) halt() {
	if r.stop != nil {
		r.stop()
		r.running.Wait()
	}
}

// advance moves the clock and waits until all that is due then has been done.
func (r *harness) advance(d time.Duration) {
	r.t.Helper()
	r.must(r.clock.Advance(d))
	r.settle()
}

// settle waits until all that is due has been done.
func (r *harness) settle() {
	r.t.Helper()
	r.must(r.svc.Settle(r.t.Context()))
	synctest.Wait()
}

// app is an app with one webhook, connected to a business.
type app struct {
	partner.App
	webhook  partner.Webhook
	secret   string
	business string
}

var scopes = identity.MustScopes("invoices:read", "customers:read", "events:read")

// app creates an app whose webhook has this address and subscribes to these events.
func (r *harness) app(address string, names ...string) app {
	r.t.Helper()
	a := app{business: "biz_" + address, App: fixture.App(r.clock.Now(), scopes)}
	r.must(fixture.AddApp(r.t.Context(), r, a.App))
	r.connect(a, a.business, scopes)
	var err error
	a.webhook, a.secret, err = r.svc.Create(r.t.Context(), webhooks.NewWebhook{AppID: a.ID, URL: "http://" + address + "/hook", Events: names})
	r.must(err)
	return a
}

func (r *harness) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// connect installs an app in a business, as a consent does.
func (r *harness) connect(a app, business string, granted identity.Scopes) {
	r.t.Helper()
	_, _, err := fixture.Approve(r.t.Context(), r, fixture.Consent{App: a.App, BusinessID: business, UserID: "usr_1", Scopes: granted, Now: r.clock.Now()})
	r.must(err)
}

// record records an event of a business.
func (r *harness) record(business, name string) partner.Event {
	r.t.Helper()
	recorded, err := r.log.Record(r.t.Context(), events.Draft{Type: name, BusinessID: business, Data: map[string]any{"id": "inv_1", "html": "<b>&"}})
	r.must(err)
	return recorded[0]
}

// only returns the only delivery of an app's webhook and its attempts.
func (r *harness) only(a app) (partner.Delivery, []partner.Attempt) {
	r.t.Helper()
	page, err := r.svc.Deliveries(r.t.Context(), partner.DeliveryQuery{AppID: a.ID, WebhookID: a.webhook.ID})
	r.must(err)
	if len(page.Deliveries) != 1 {
		r.t.Fatalf("%d deliveries, want 1", len(page.Deliveries))
	}
	one, attempts, err := r.svc.Delivery(r.t.Context(), a.ID, a.webhook.ID, page.Deliveries[0].ID)
	r.must(err)
	return one, attempts
}

// pipeNet is the network below the guarded client: every address is an HTTP server
// at the other end of a pipe.
type pipeNet struct {
	conns    chan net.Conn
	mu       sync.Mutex
	clock    clock.Clock
	handlers map[string]http.HandlerFunc
	got      map[string][]post
}

// post is a request that arrived.
type post struct {
	header http.Header
	body   []byte
	at     time.Time
}

func newPipeNet(t *testing.T, clock clock.Clock) *pipeNet {
	n := &pipeNet{clock: clock, conns: make(chan net.Conn), handlers: map[string]http.HandlerFunc{}, got: map[string][]post{}}
	server := &http.Server{Handler: n, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(n) })
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return n
}

// dial opens a pipe to the server.
func (n *pipeNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make it a listener.
func (n *pipeNet) Accept() (net.Conn, error) {
	conn, ok := <-n.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (n *pipeNet) Close() error   { close(n.conns); return nil }
func (n *pipeNet) Addr() net.Addr { return &net.IPAddr{} }

// handle sets the handler of an address; the default responds with 204.
func (n *pipeNet) handle(address string, h http.HandlerFunc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handlers[address] = h
}

func (n *pipeNet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n.mu.Lock()
	n.got[r.Host] = append(n.got[r.Host], post{r.Header.Clone(), body, n.clock.Now()})
	h := n.handlers[r.Host]
	n.mu.Unlock()
	if h == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h(w, r)
}

func (n *pipeNet) posts(address string) []post {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]post{}, n.got[address]...)
}

// sent decodes a body.
func sent(t *testing.T, p post) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(p.body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func response(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}
