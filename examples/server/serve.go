package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// timeouts bound what a client can make the server wait for.
type timeouts struct {
	header, read, write, idle time.Duration
	shutdown                  time.Duration // for requests under way
}

var serveTimeouts = timeouts{
	header: 5 * time.Second, read: 30 * time.Second, write: 60 * time.Second, idle: 2 * time.Minute,
	shutdown: 15 * time.Second,
}

// maxHeader bounds a request's header, the URL included.
const maxHeader = 64 << 10

func newHTTPServer(h http.Handler, t timeouts, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.read,
		WriteTimeout:      t.write,
		IdleTimeout:       t.idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // what clients do wrong
	}
}

// site is an HTTP server with the endpoint it serves.
type site struct {
	*http.Server
	*endpoint
}

// serve serves until ctx ends, or until one of the sockets fails. Then it stops
// listening and lets the requests that are under way finish.
func serve(ctx context.Context, t timeouts, sites ...site) error {
	failed := make(chan error, 8)
	var wg sync.WaitGroup
	for _, s := range sites {
		for _, socket := range s.sockets {
			wg.Go(func() {
				if err := s.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
					failed <- fmt.Errorf("%s: %w", s.flag, err)
				}
			})
		}
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.shutdown)
	defer cancel()
	for _, s := range sites {
		wg.Go(func() {
			if s.Shutdown(grace) != nil {
				_ = s.Close() // they had their time
			}
		})
	}
	wg.Wait()
	return err
}
