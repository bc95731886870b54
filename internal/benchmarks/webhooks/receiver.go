package webhooks

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// There are as many endpoints as the service keeps busy by default, with perEndpoint
// simultaneous attempts each. All bodies have the same length.
const (
	endpoints   = 16
	perEndpoint = 16
	bodyBytes   = 1024
	sampled     = 16
)

// endpoint is where webhooks go.
type endpoint struct {
	url, secret string
	signer      *signature.Signer
}

// receiver is all endpoints, on sockets of this machine. It counts complete deliveries
// with a valid signature and responds to them with 204. It verifies the signature of one
// delivery in sampled.
type receiver struct {
	endpoints []endpoint
	arrived   atomic.Int64
	servers   []*http.Server
	serving   sync.WaitGroup
}

func newReceiver() (*receiver, error) {
	r := &receiver{}
	for i := range endpoints {
		e := endpoint{secret: "whsec_" + strings.Repeat(string(rune('a'+i)), 43)}
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{e.secret}})
		if err != nil {
			return nil, err
		}
		if e.signer, err = signature.NewSigner(e.secret); err != nil {
			return nil, err
		}
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			r.close()
			return nil, err
		}
		e.url = "http://" + listener.Addr().String()
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: r.handler(verifier)}
		r.serving.Go(func() { _ = server.Serve(listener) })
		r.endpoints, r.servers = append(r.endpoints, e), append(r.servers, server)
	}
	return r, nil
}

func (r *receiver) close() {
	for _, server := range r.servers {
		_ = server.Close()
	}
	r.serving.Wait()
}

// handler returns one endpoint.
func (r *receiver) handler(verifier *signature.Verifier) http.Handler {
	bodies := sync.Pool{New: func() any { return new([bodyBytes + 1]byte) }}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body := bodies.Get().(*[bodyBytes + 1]byte)
		defer bodies.Put(body)
		n, err := io.ReadFull(req.Body, body[:])
		if err != io.ErrUnexpectedEOF || n != bodyBytes || req.Header.Get("X-Webhook-Id") == "" || req.Header.Get("X-Webhook-Event-Id") == "" {
			http.Error(w, fmt.Sprintf("%d bytes, %v", n, err), http.StatusBadRequest)
			return
		}
		if r.arrived.Add(1)%sampled == 0 {
			if err := verifier.Verify(req.Header.Get(signature.Header), body[:n]); err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
