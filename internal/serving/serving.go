// Package serving serves HTTP together with background work, and stops both in order: first
// the servers, without dropping a request, then the work.
package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// grace is how long requests under way may take after the end of the context.
const grace = 15 * time.Second

// Site is an HTTP server and the sockets on which it accepts connections. With a TLSConfig it
// speaks TLS.
type Site struct {
	*http.Server
	Sockets []net.Listener
}

// Listen returns a site for each server, listening on its Addr. The error names the server.
func Listen(ctx context.Context, servers ...*http.Server) (sites []Site, err error) {
	defer func() {
		if err != nil {
			for _, site := range sites {
				closeAll(site.Sockets)
			}
		}
	}()
	for i, s := range servers {
		if s.Addr == "" || s.Handler == nil {
			return sites, fmt.Errorf("server %d of %d needs an Addr and a Handler", i+1, len(servers))
		}
		socket, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Addr)
		if err != nil {
			return sites, err
		}
		sites = append(sites, Site{s, []net.Listener{socket}})
	}
	return sites, nil
}

// Run serves the sites and does work until ctx ends, or until a socket or the work fails. Then
// it finishes the requests under way, within 15 seconds, and after them ends the context of
// work. It returns the errors of both; none if ctx ended.
//
// Run changes the servers: zero timeouts get a default, so that a slow client cannot keep a
// connection open, and errors that clients cause are logged at level debug.
func Run(ctx context.Context, log *slog.Logger, work func(ctx context.Context) error, sites ...Site) error {
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	worked := make(chan error, 1)
	go func() {
		worked <- work(working)
		stopServing() // requests rely on the work
	}()
	connections, err := serve(serving, log, sites)
	log.InfoContext(ctx, "stopping: requests are done", "connections", connections)
	stopWork()
	return errors.Join(err, <-worked)
}

// serve returns how many connections there were, after the last request.
func serve(ctx context.Context, log *slog.Logger, sites []Site) (connections int64, err error) {
	failed := make(chan error, 1)
	doors := make([]*door, len(sites))
	for i, site := range sites {
		prepare(site.Server, log)
		accept := site.accept()
		doors[i] = newDoor(site.Server)
		for _, socket := range site.Sockets {
			doors[i].accepting.Go(func() {
				if err := accept(socket); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
					select {
					case failed <- fmt.Errorf("%s: %w", socket.Addr(), err):
					default: // one is enough to stop
					}
				}
			})
		}
	}
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	var wg sync.WaitGroup
	for i, site := range sites {
		wg.Go(func() {
			doors[i].close(site.Sockets)
			site.SetKeepAlivesEnabled(false) // closes idle connections
			doors[i].wait(ending)
			if site.Shutdown(ending) != nil {
				_ = site.Close() // the grace is over
			}
		})
	}
	wg.Wait()
	for _, d := range doors {
		connections += d.entered.Load()
	}
	return connections, err
}

// accept returns the function that serves a socket. Call it before the first socket is served:
// net/http then gives the server a TLSConfig, for HTTP/2.
func (s Site) accept() func(net.Listener) error {
	if s.TLSConfig == nil {
		return s.Serve
	}
	return func(socket net.Listener) error { return s.ServeTLS(socket, "", "") }
}

// prepare sets what is zero.
func prepare(s *http.Server, log *slog.Logger) {
	s.ReadHeaderTimeout = cmp.Or(s.ReadHeaderTimeout, 5*time.Second)
	s.ReadTimeout = cmp.Or(s.ReadTimeout, 30*time.Second)
	s.WriteTimeout = cmp.Or(s.WriteTimeout, 60*time.Second)
	s.IdleTimeout = cmp.Or(s.IdleTimeout, 2*time.Minute)
	s.MaxHeaderBytes = cmp.Or(s.MaxHeaderBytes, 64<<10)
	if s.ErrorLog == nil {
		s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	}
	s.Handler = unambiguous(s.Handler)
}

// unambiguous ends the connection after a request that came in chunks. It may have had a
// Content-Length too, which net/http drops: a proxy that used that length saw another end of
// the request, and what the proxy took for its rest must not be answered (RFC 9112 section 6.1).
func unambiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func closeAll(sockets []net.Listener) {
	for _, socket := range sockets {
		_ = socket.Close()
	}
}
