package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
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
		Handler:           unambiguous(h),
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.read,
		WriteTimeout:      t.write,
		IdleTimeout:       t.idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // what clients do wrong
	}
}

// unambiguous ends the connection after a request that came in chunks. It may have had a
// Content-Length too, which net/http drops: a proxy that went by that saw another end of
// the request, and what it took for its rest must not be answered (RFC 9112 section 6.1).
func unambiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// site is an HTTP server with the endpoint it serves, and what it sends.
type site struct {
	*http.Server
	*endpoint
	errors apierror.Writer
}

// serve serves until ctx ends, or until one of the sockets fails. Then it finishes
// the open requests, within t.shutdown, and returns the total number of connections.
func serve(ctx context.Context, t timeouts, sites ...site) (connections int64, err error) {
	failed := make(chan error, 8)
	var wg sync.WaitGroup
	doors := make([]*door, len(sites))
	for i, s := range sites {
		doors[i] = newDoor(s.Server)
		for _, socket := range s.sockets {
			wg.Go(func() {
				if err := s.Serve(shapedListener{socket, s.errors}); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
					failed <- fmt.Errorf("%s: %w", s.flag, err)
				}
			})
		}
	}
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.shutdown)
	defer cancel()
	for i, s := range sites {
		wg.Go(func() {
			doors[i].close(s.sockets)
			s.SetKeepAlivesEnabled(false) // who is idle now leaves
			doors[i].wait(grace)
			if s.Shutdown(grace) != nil {
				_ = s.Close() // they had their time
			}
		})
	}
	wg.Wait()
	for _, d := range doors {
		connections += d.entered.Load()
	}
	return connections, err
}
