package sandbox

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// door is where the connections of a server come in. http.Server.Shutdown leaves some of
// them without a response: the kernel resets those that wait to be accepted, and a request
// that is read after its beginning is dropped. So the door is closed in a quiet moment, and
// Shutdown is called when no request is left.
type door struct {
	entered atomic.Int64
	inside  sync.WaitGroup
	closing chan struct{} // closed when the door is about to close
	closed  chan struct{}
}

// How long the door stays open at the end.
const (
	quietFor = 50 * time.Millisecond  // without a new connection
	openFor  = 500 * time.Millisecond // at most
)

// newDoor puts a door in front of a server that does not serve yet.
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

// hold keeps requests waiting while the door closes. Otherwise clients that send one
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
