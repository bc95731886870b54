package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// run is the whole program: it runs the story once, and returns nil if every step
// succeeded.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	return tell(ctx, o, socket, stdout)
}

// tell is run on a socket that is open.
func tell(ctx context.Context, o options, socket net.Listener, stdout io.Writer) (err error) {
	defer socket.Close() // Serve closes it too
	s, err := newStory(ctx, o, &transcript{base: client.NewTransport(), out: stdout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.box.Close()) }()
	server := &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, // a callback waits for the token endpoint
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var parts sync.WaitGroup
	var serving, worked error
	parts.Go(func() { serving = server.Serve(socket) })
	parts.Go(func() { worked = s.box.Run(working) })

	told := s.tell(ctx)
	shut := server.Shutdown(working)
	stop()
	parts.Wait()
	if errors.Is(serving, http.ErrServerClosed) {
		serving = nil
	}
	return errors.Join(told, shut, serving, worked, s.out.failed())
}

// newStory finds the service and puts the parts together.
func newStory(ctx context.Context, o options, out *transcript) (*story, error) {
	s := &story{o: o, out: out, seen: newArrivals()}
	out.say("Where is everything? (RFC 8414)")
	metadata, err := client.Discover(ctx, &http.Client{Transport: client.Retry{Base: out.by("app")}, Timeout: time.Minute}, o.api)
	if err != nil {
		return nil, fmt.Errorf("%w (does the server run? go run ./examples/server)", err)
	}
	s.app = &client.App{
		Metadata: metadata, ClientID: o.clientID, ClientSecret: o.clientSecret, RedirectURL: o.url + "/callback",
		Scopes: []string{"profile:read", "events:read", "invoices:read", "invoices:write"}, // no more than it uses
		HTTP:   &http.Client{Transport: client.TokenRetry(out.by("app")), Timeout: 5 * time.Minute},
	}
	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return nil, err
	}
	if s.source, err = client.NewSource(s.app, client.File{Path: filepath.Join(o.data, "tokens.json")}); err != nil {
		return nil, err
	}
	bearer := client.Bearer{Source: s.source, Base: client.Retry{Base: out.by("app")}}
	s.api = client.API{URL: metadata.APIBaseURL, HTTP: &http.Client{Transport: bearer, Timeout: 5 * time.Minute}}
	s.connector = newConnector(s.app, s.source, out.say)
	if s.person, err = newPerson(o, out); err != nil {
		return nil, err
	}
	if s.hooks, err = newHooks(ctx, o, metadata.APIBaseURL, out); err != nil {
		return nil, err
	}
	s.box, err = inbox.Open(ctx, inbox.Config{Path: filepath.Join(o.data, "inbox.db"), Work: s.seen.work})
	return s, err
}

// routes serves browsers and the service.
func (s *story) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /connect", s.connector.connect)
	mux.HandleFunc("GET /callback", s.connector.callback)
	mux.Handle("POST /webhooks", s.hooks.noted(s.box.Handler(s.hooks.verifier)))
	return mux
}
