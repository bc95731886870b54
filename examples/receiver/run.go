package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// run is the whole program: it serves until ctx ends, and then returns nil.
// Standard output gets a line of JSON for every event that was worked on.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, getenv, stderr)
	if err != nil {
		return err
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	return serve(ctx, o, socket, stdout, stderr)
}

// serve is run on a socket that is open.
func serve(ctx context.Context, o options, socket net.Listener, stdout, stderr io.Writer) (err error) {
	defer socket.Close() // Serve closes it too
	log := slog.New(slog.NewTextHandler(stderr, nil))
	verifier, err := signature.NewVerifier(signature.Config{Secrets: o.secrets, Now: inbox.ServerTime(ctx, o.api)})
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	lines := json.NewEncoder(stdout)
	box, err := inbox.Open(ctx, inbox.Config{
		Path: o.db, Logger: log,
		Work: func(_ context.Context, e inbox.Event) error { return lines.Encode(e) }, // yours goes here
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()

	mux := http.NewServeMux()
	mux.Handle("POST /webhooks", box.Handler(verifier))
	server := &http.Server{
		Handler: mux, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
	log.InfoContext(ctx, "listening", "url", "http://"+socket.Addr().String()+"/webhooks")

	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var parts sync.WaitGroup
	failed := make(chan error, 2)
	parts.Go(func() { failed <- server.Serve(socket) })
	parts.Go(func() { failed <- box.Run(working) })
	if o.token != "" {
		parts.Go(func() { reconcile(working, box, o, log) })
	}
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	// In this order: nothing new comes, then the work under way ends.
	err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)))
	stop()
	parts.Wait()
	return err
}
