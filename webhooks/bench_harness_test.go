package webhooks_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// The bars are held at full size. Without them a benchmark only shows that it runs.
func hasBars() bool { return os.Getenv("PARTNERKIT_BARS") != "" }

// sized is the size of a benchmark.
func sized(short, full int) int {
	if hasBars() {
		return full
	}
	return short
}

// sender is a service on SQLite that sends over real sockets.
type sender struct {
	*sqlstore.Store
	b   *testing.B
	svc *webhooks.Service
}

// newSender makes one whose configuration is the default.
func newSender(b *testing.B) *sender {
	b.Helper()
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "bench.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	s := &sender{Store: store, b: b}
	if s.svc, err = webhooks.New(webhooks.Config{Store: s, Keyring: fixture.Keyring(1), Options: webhooks.Options{AllowLoopback: true}}); err != nil {
		b.Fatal(err)
	}
	return s
}

// start runs the service until the returned function is called.
func (s *sender) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.svc.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// target is a webhook of an app of its own, which is installed in a business of
// its own.
type target struct {
	appID, business, secret string
	webhook                 webhooks.Webhook
}

const benchEvent = "invoice.created"

// targets makes one for each URL.
func (s *sender) targets(urls []string) []target {
	s.b.Helper()
	made := make([]target, len(urls))
	errs := make([]error, len(urls))
	var wg sync.WaitGroup
	for part := range slices.Chunk(seq(len(urls)), max(1, len(urls)/64)) { // at once: they share commits
		wg.Go(func() {
			for _, i := range part {
				made[i], errs[i] = s.target(urls[i])
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			s.b.Fatal(err)
		}
	}
	return made
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *sender) target(url string) (target, error) {
	ctx, now := s.b.Context(), time.Now()
	app := fixture.App(now, scopes)
	if err := fixture.AddApp(ctx, s, app); err != nil {
		return target{}, err
	}
	made := target{appID: app.ID, business: id.New(id.Business, now)}
	consent := fixture.Consent{App: app, BusinessID: made.business, UserID: "usr_1", Scopes: scopes, Now: now}
	if _, _, err := fixture.Approve(ctx, s, consent); err != nil {
		return target{}, err
	}
	var err error
	made.webhook, made.secret, err = s.svc.Create(ctx, webhooks.NewWebhook{AppID: app.ID, URL: url, Events: []string{benchEvent}})
	return made, err
}

// serve listens at so many addresses of this machine, and returns their URLs.
func serve(b *testing.B, addresses int, h http.Handler) []string {
	b.Helper()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	urls := make([]string, addresses)
	for i := range urls {
		l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		urls[i] = "http://" + l.Addr().String()
		serving.Go(func() { _ = server.Serve(l) })
	}
	b.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return urls
}

// median of the values, which a busy machine moves less than the mean.
func median(values []float64) float64 { return quantile(values, 0.5) }

func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
