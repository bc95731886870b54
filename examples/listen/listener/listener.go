// Package listener receives the webhooks of an app on this machine, without a tunnel
// and without a word in the app's settings: it signs a developer in, which the
// reference server lets any client do in development mode, creates a webhook that points
// to a port of its own, and removes it in the end.
//
// The command examples/listen shows what comes; Go tests read
// [Listener.Deliveries].
package listener

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// Delivery is one that the service signed.
type Delivery struct {
	signature.Delivery
	Header http.Header // as it came
	Body   []byte      // as it came: what the signature is about
	Status int         // what the service gets for a response
}

// Listener gets the deliveries of an app until Close. It is safe for concurrent use.
type Listener struct {
	cfg      Config
	console  *console
	app      app
	hook     webhook
	url      string
	clock    platformClock
	verifier *signature.Verifier
	server   *http.Server
	got      chan Delivery
	closing  chan struct{}
	served   chan struct{}
	close    func() error
}

// Start creates the webhook and listens to it. ctx is for starting alone; Close ends
// the listener, and has to be called: otherwise the webhook stays, and the service
// sends to a port without a listener.
func Start(ctx context.Context, cfg Config) (*Listener, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &console{api: cfg.API, userID: cfg.UserID, client: newClient()}
	l := &Listener{
		cfg: cfg, console: c, clock: platformClock{console: c},
		got: make(chan Delivery, 64), closing: make(chan struct{}), served: make(chan struct{}),
	}
	l.close = sync.OnceValue(l.end)
	if l.app, err = c.app(ctx, cfg.AppID, cfg.ClientID); err != nil {
		return nil, fmt.Errorf("listener: %w", err)
	}
	events, err := l.events(ctx)
	if err != nil {
		return nil, fmt.Errorf("listener: %w", err)
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listener: %w", err)
	}
	l.url = "http://" + socket.Addr().String() + "/"
	// What is sent before we know the secret waits in the socket.
	if l.hook, err = c.createWebhook(ctx, l.app.ID, l.url, events); err != nil {
		return nil, errors.Join(fmt.Errorf("listener: %w", err), socket.Close())
	}
	l.verifier, err = signature.NewVerifier(signature.Config{Secrets: []string{l.hook.Secret}, Now: l.clock.now})
	if err != nil {
		return nil, errors.Join(err, socket.Close(), l.removeWebhook())
	}
	l.server = &http.Server{Handler: http.HandlerFunc(l.receive), ReadTimeout: callTimeout}
	go func() {
		defer close(l.served)
		if err := l.server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error("listening ended", "err", err)
		}
	}()
	return l, nil
}

// events that the webhook subscribes to.
func (l *Listener) events(ctx context.Context) ([]string, error) {
	if len(l.cfg.Events) > 0 {
		return slices.Clone(l.cfg.Events), nil
	}
	catalog, err := l.console.catalog(ctx)
	names := make([]string, len(catalog))
	for i, d := range catalog {
		names[i] = d.Name
	}
	return names, err
}

// Deliveries returns those that have come and are verified, each as soon as its response is
// known. Read them: when too many wait, the service gets no responses. Close closes the
// channel.
func (l *Listener) Deliveries() <-chan Delivery { return l.got }

// URL returns the URL of the webhook.
func (l *Listener) URL() string { return l.url }

// Secret returns the secret of the webhook, with which Config.Forward verifies signatures.
func (l *Listener) Secret() string { return l.hook.Secret }

// Close removes the webhook and stops listening. The error says when the webhook could
// not be removed, and names it.
func (l *Listener) Close() error { return l.close() }

func (l *Listener) end() error {
	close(l.closing)
	err := l.removeWebhook()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err = errors.Join(err, l.server.Shutdown(ctx))
	<-l.served
	close(l.got)
	l.console.client.CloseIdleConnections()
	return err
}

func (l *Listener) removeWebhook() error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if err := l.console.deleteWebhook(ctx, l.app.ID, l.hook.ID); err != nil {
		return fmt.Errorf("listener: webhook %s of app %s is still there: %w", l.hook.ID, l.app.ID, err)
	}
	return nil
}
