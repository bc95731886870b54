package listener

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
)

// hopByHop are headers of a connection, not of what comes through it (RFC 9110
// section 7.6.1).
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// maxSaid is as much of a response as the service keeps, in bytes.
const maxSaid = 1 << 10

// forward passes a delivery on, the same bytes under the same headers, and returns
// what came back, or 502 when nothing did.
func (l *Listener) forward(ctx context.Context, d Delivery) (status int, said []byte) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.cfg.Forward, bytes.NewReader(d.Body))
	if err != nil {
		return http.StatusBadGateway, []byte(err.Error())
	}
	r.Header = d.Header.Clone()
	for _, name := range append(strings.Split(r.Header.Get("Connection"), ","), hopByHop...) {
		r.Header.Del(strings.TrimSpace(name))
	}
	if len(r.Header.Values("User-Agent")) == 0 {
		r.Header.Set("User-Agent", "") // or Go would write its own
	}
	res, err := l.console.client.Do(r)
	if err != nil {
		l.cfg.Logger.Warn("forwarding a delivery failed", "id", d.ID, "err", err)
		return http.StatusBadGateway, []byte(err.Error())
	}
	defer res.Body.Close()
	if res.StatusCode < http.StatusOK { // it wants another protocol
		return http.StatusBadGateway, nil
	}
	said, _ = io.ReadAll(io.LimitReader(res.Body, maxSaid)) // what came of it is all that counts
	return res.StatusCode, said
}
