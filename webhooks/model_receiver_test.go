package webhooks_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// receivers are the endpoints of all webhooks. Each has an address of its own.
type receivers struct {
	pipeNet // the listener
	clock   clock.Clock

	mu       sync.Mutex
	manner   map[string]int // by host; the first is the default
	arrivals []arrival
	serving  map[string]int // by delivery, and by host
}

// arrival is a request. Times are in Unix milliseconds.
type arrival struct {
	process     int
	method      string
	url         string
	header      http.Header
	body        string
	manner      int
	clock, real int64
}

type onLine struct{}

func newReceivers(t *testing.T, clock clock.Clock) *receivers {
	v := &receivers{clock: clock, manner: map[string]int{}, serving: map[string]int{}}
	v.conns = make(chan net.Conn)
	server := &http.Server{Handler: v, ReadHeaderTimeout: time.Minute, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, onLine{}, c.(line))
	}}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(v) })
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return v
}

func (v *receivers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := r.Header.Get("X-Webhook-Id")
	how := v.arrive(r, string(body), id)
	defer v.leave(id, r.Host)
	switch how.name {
	case "redirect":
		w.Header().Set("Location", "http://127.9.9.9/elsewhere")
	case "cut":
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	case "hang":
		<-r.Context().Done()
		return
	case "slow":
		select {
		case <-time.After(how.takes):
		case <-r.Context().Done():
			return
		}
	}
	w.WriteHeader(how.code)
}

func (v *receivers) arrive(r *http.Request, body, id string) manner {
	v.mu.Lock()
	defer v.mu.Unlock()
	how := v.manner[r.Host]
	from := r.Context().Value(onLine{}).(line)
	v.serving[id]++
	v.serving[r.Host]++
	v.arrivals = append(v.arrivals, arrival{
		process: from.process, method: r.Method, url: "http://" + r.Host + r.URL.String(), header: r.Header.Clone(), body: body,
		manner: how, clock: v.clock.Now().UnixMilli(), real: time.Now().UnixMilli(),
	})
	return manners[how]
}

func (v *receivers) leave(id, host string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.serving[id]--
	v.serving[host]--
}

func (v *receivers) set(host string, manner int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.manner[host] = manner
}

// isServing reports whether a request of the delivery, or to the host, is under way.
func (v *receivers) isServing(what string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.serving[what] > 0
}

// take returns what has arrived since it was called before.
func (v *receivers) take() []arrival {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := v.arrivals
	v.arrivals = nil
	return all
}
