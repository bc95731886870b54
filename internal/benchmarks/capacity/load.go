package capacity

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Each app has one webhook and is installed in some businesses. A client works for each
// installation.
const (
	apps             = 16
	businessesPerApp = 4
	eventType        = "invoice.created"
	scope            = "invoices:read"
)

// client has one installation and makes one request at a time.
type client struct {
	id, secret string
	tokens     fixture.Tokens
}

// load is the clients of some nodes.
type load struct {
	nodes    []*node
	clients  []*client
	http     *http.Client
	receiver *receiver
}

func newLoad(ctx context.Context, store *sqlstore.Store, to *receiver) (*load, error) {
	l := &load{receiver: to, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: apps * businessesPerApp}}}
	hooks, err := webhooks.New(webhooks.Config{Store: store, Keyring: fixture.Keyring(0), Options: webhooks.Options{AllowLoopback: true}})
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for range apps {
		app := fixture.App(now, identity.MustScopes(scope))
		app.Type = partner.Confidential
		secret, text := fixture.Secret(app)
		if err := fixture.AddApp(ctx, store, app, secret); err != nil {
			return nil, err
		}
		for range businessesPerApp {
			consent := fixture.Consent{App: app, BusinessID: id.New(id.Business, now), UserID: "usr_1", Scopes: app.Scopes, Now: now}
			tokens, err := fixture.Connect(ctx, store, consent)
			if err != nil {
				return nil, err
			}
			l.clients = append(l.clients, &client{app.ClientID, text, tokens})
		}
		if _, _, err := hooks.Create(ctx, webhooks.NewWebhook{AppID: app.ID, URL: to.url, Events: []string{eventType}}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *load) close() { l.http.CloseIdleConnections() }

// run lets all clients work for a span, and returns how often they did something and how
// long that took.
func (l *load) run(span time.Duration, do func(c *client, node string) error) (n int64, took time.Duration, err error) {
	var (
		count   atomic.Int64
		failure error
		once    sync.Once
		working sync.WaitGroup
	)
	began := time.Now()
	for i, c := range l.clients {
		node := l.nodes[i%len(l.nodes)].url
		working.Go(func() {
			for time.Since(began) < span {
				if err := do(c, node); err != nil {
					once.Do(func() { failure = err })
					return
				}
				count.Add(1)
			}
		})
	}
	working.Wait()
	return count.Load(), time.Since(began), failure
}

func (l *load) calls(span time.Duration) (float64, error) {
	n, took, err := l.run(span, func(c *client, node string) error {
		return l.call(c, http.MethodGet, node, http.StatusOK)
	})
	return float64(n) / took.Seconds(), err
}

func (l *load) refreshes(span time.Duration) (float64, error) {
	n, took, err := l.run(span, l.refresh)
	return float64(n) / took.Seconds(), err
}

// events records events until the span ends, and waits until all have arrived.
func (l *load) events(span time.Duration) (float64, error) {
	before := l.receiver.arrived.Load()
	n, took, err := l.run(span, func(c *client, node string) error {
		return l.call(c, http.MethodPost, node, http.StatusCreated)
	})
	if err != nil {
		return 0, err
	}
	for began := time.Now(); l.receiver.arrived.Load() < before+n; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("%d of %d events have arrived", l.receiver.arrived.Load()-before, n)
		}
		took = max(took, span+time.Since(began))
	}
	return float64(n) / took.Seconds(), nil
}

func (l *load) call(c *client, method, node string, want int) error {
	r, err := http.NewRequest(method, node+"/items", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.tokens.Access)
	_, err = l.do(r, want)
	return err
}

func (l *load) refresh(c *client, node string) error {
	r, err := http.NewRequest(http.MethodPost, node+"/oauth/token", strings.NewReader(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.tokens.Refresh}}.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(c.id, c.secret)
	body, err := l.do(r, http.StatusOK)
	if err != nil {
		return err
	}
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	c.tokens.Access, c.tokens.Refresh = got.Access, got.Refresh
	return nil
}

func (l *load) do(r *http.Request, want int) ([]byte, error) {
	got, err := l.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != want {
		err = fmt.Errorf("%s %s: status %d: %s", r.Method, r.URL.Path, got.StatusCode, body)
	}
	return body, err
}

// receiver is the endpoint of all webhooks. It counts deliveries, each event once.
type receiver struct {
	url     string
	arrived atomic.Int64
	seen    sync.Map
	server  *http.Server
	serving sync.WaitGroup
}

func newReceiver() (*receiver, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String()}
	r.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: r}
	r.serving.Go(func() { _ = r.server.Serve(listener) })
	return r, nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, before := r.seen.LoadOrStore(req.Header.Get("X-Webhook-Id"), true); !before {
		r.arrived.Add(1)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) close() {
	_ = r.server.Close()
	r.serving.Wait()
}
