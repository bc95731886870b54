package serving

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// door counts the connections of a server. http.Server.Shutdown leaves some of them without a
// response: the kernel resets those that wait to be accepted, and one that is accepted at that
// moment is closed. So the sockets are closed in a quiet moment, and Shutdown is called when no
// connection is left.
type door struct {
	entered atomic.Int64
	inside  sync.WaitGroup
	closing chan struct{} // closed when close begins
	closed  chan struct{} // closed when the sockets are

	accepting sync.WaitGroup // the goroutines that accept connections
}

// How long the sockets stay open at the end.
const (
	quietFor = 50 * time.Millisecond  // without a new connection
	openFor  = 500 * time.Millisecond // at most
)

// newDoor observes a server that does not serve yet.
func newDoor(s *http.Server) *door {
	d := &door{closing: make(chan struct{}), closed: make(chan struct{})}
	others := s.ConnState
	s.ConnState = func(c net.Conn, state http.ConnState) {
		d.note(state)
		if others != nil {
			others(c, state)
		}
	}
	s.Handler = d.hold(s.Handler)
	return d
}

func (d *door) note(state http.ConnState) {
	switch state {
	case http.StateNew:
		d.entered.Add(1)
		d.inside.Add(1)
	case http.StateClosed, http.StateHijacked:
		d.inside.Done()
	}
}

// hold delays requests while the sockets are being closed. Otherwise clients that send one
// request after the other would connect again and again, and there would be no quiet
// moment. "Connection: close" keeps them from sending another request on a connection that
// is about to be closed.
func (d *door) hold(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-d.closing:
			w.Header().Set("Connection", "close")
			<-d.closed
		default:
		}
		next.ServeHTTP(w, r)
	})
}

// close waits until no connection is waiting to be accepted, and closes the sockets.
func (d *door) close(sockets []net.Listener) {
	close(d.closing)
	end := time.Now().Add(openFor)
	for before := int64(-1); before != d.entered.Load() && time.Now().Before(end); {
		before = d.entered.Load()
		time.Sleep(quietFor)
	}
	closeAll(sockets)
	close(d.closed)
	d.accepting.Wait() // from here on, inside counts all connections
}

// wait returns when all connections are closed, or ctx has ended.
func (d *door) wait(ctx context.Context) {
	left := make(chan struct{})
	go func() {
		d.inside.Wait()
		close(left)
	}()
	select {
	case <-left:
	case <-ctx.Done():
	}
}
