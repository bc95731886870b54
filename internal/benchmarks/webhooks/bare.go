package webhooks

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// filler makes a body of the right length.
var filler = []byte(`{"data":"` + strings.Repeat("x", bodyBytes-11) + `"}`)

// What the loop sends in place of ids.
const (
	someDelivery = "dlv_06g5plpa01o015r0g79mgnmm4c"
	someEvent    = "evt_06g5plpa01o015r0g79mgnmm4c"
)

// poster is net/http and a signature.
type poster struct{ client *http.Client }

func newPoster(perHost int) *poster {
	return &poster{&http.Client{
		Timeout:   webhooks.AttemptTimeout,
		Transport: &http.Transport{MaxIdleConns: endpoints * perHost, MaxIdleConnsPerHost: perHost, DisableCompression: true},
	}}
}

func (p *poster) post(to endpoint, deliveryID, eventID string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "partnerkit-webhooks")
	req.Header.Set("X-Webhook-Id", deliveryID)
	req.Header.Set("X-Webhook-Event", eventType)
	req.Header.Set("X-Webhook-Event-Id", eventID)
	req.Header.Set(signature.Header, to.signer.Sign(time.Now(), body))
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("answered with status %d", res.StatusCode)
	}
	return nil
}

// bare returns the floor: signed posts from as many goroutines as the service has
// places, over connections that stay open.
func bare(r *receiver, n int) bench.Side {
	p := newPoster(perEndpoint)
	return bench.Side{Name: "bare loop", Each: n, Do: func(n int) error {
		before := r.arrived.Load()
		err := bench.Parallel(endpoints*perEndpoint, n, func(g, n int) error {
			for range n {
				if err := p.post(r.endpoints[g%endpoints], someDelivery, someEvent, filler); err != nil {
					return err
				}
			}
			return nil
		})
		if got := r.arrived.Load() - before; err == nil && got != int64(n) {
			err = fmt.Errorf("%d posts arrived, want %d", got, n)
		}
		return err
	}}
}
