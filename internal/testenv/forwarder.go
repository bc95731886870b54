package testenv

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Forwarder passes connections on to an address, as a service name that can move does.
type Forwarder struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu      sync.Mutex
	network string
	to      string
	conns   map[net.Conn]bool // both ends of every connection
	thawed  chan struct{}     // closed unless it is frozen
}

// StartForwarder starts one for this test alone. The network is that of package net.
func StartForwarder(t testing.TB, network, to string) *Forwarder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Forwarder{listener: listener, network: network, to: to, conns: map[net.Conn]bool{}, thawed: make(chan struct{})}
	close(f.thawed)
	f.wg.Go(f.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		f.Thaw()
		f.mu.Lock()
		for conn := range f.conns {
			_ = conn.Close()
		}
		f.mu.Unlock()
		f.wg.Wait()
	})
	return f
}

// Address returns where it listens.
func (f *Forwarder) Address() string { return f.listener.Addr().String() }

// Move sends new connections elsewhere. The others stay.
func (f *Forwarder) Move(network, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.network, f.to = network, to
}

// Freeze passes nothing on any more, and keeps every connection open.
func (f *Forwarder) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

// Thaw ends Freeze.
func (f *Forwarder) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.thawed:
	default:
		close(f.thawed)
	}
}

func (f *Forwarder) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.serve(client) })
	}
}

func (f *Forwarder) serve(client net.Conn) {
	f.mu.Lock()
	network, to := f.network, f.to
	f.mu.Unlock()
	server, err := net.Dial(network, to)
	if err != nil {
		_ = client.Close()
		return
	}
	f.mu.Lock()
	f.conns[client], f.conns[server] = true, true
	f.mu.Unlock()
	f.wg.Go(func() { f.copy(server, client) })
	f.copy(client, server)
}

// copy ends both connections with either.
func (f *Forwarder) copy(to, from net.Conn) {
	_, _ = io.Copy(to, thawing{from, f})
	_, _ = to.Close(), from.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, to)
	delete(f.conns, from)
}

// thawing reads from a connection, and returns what it read when the forwarder is not frozen.
type thawing struct {
	net.Conn
	f *Forwarder
}

func (r thawing) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.f.mu.Lock()
	thawed := r.f.thawed
	r.f.mu.Unlock()
	<-thawed
	return n, err
}
