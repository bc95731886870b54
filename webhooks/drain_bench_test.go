package webhooks_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// drainTargets is as many endpoints as the default configuration can keep busy,
// with perTarget attempts each.
const (
	drainTargets = 16
	perTarget    = 16
)

// BenchmarkDrain sends a backlog of deliveries with bodies of 1 KiB, and beside it
// the same number of signed posts from a loop without a queue, with the same
// concurrency, to the same receiver, in turns.
//
// The bar: drain/bare at least 0.4; to be aimed at is 0.65.
func BenchmarkDrain(b *testing.B) {
	n, rounds := sized(2000, 20_000), sized(1, 5)
	var posts atomic.Int64
	urls := serve(b, drainTargets, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, err := io.Copy(io.Discard, r.Body); err == nil && got == int64(len(kibibyte)) && r.Header.Get(signature.Header) != "" {
			posts.Add(1)
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	s := newSender(b)
	targets := s.targets(urls)
	var bareRates, drainRates, ratios []float64
	for b.Loop() {
		for range rounds {
			posts.Store(0)
			bare := rate(n, func() { bareLoop(b, targets, n) })
			s.backlog(targets, n)
			drain := rate(n, func() { s.drain(n) })
			if got := posts.Load(); got != int64(2*n) {
				b.Fatalf("%d posts arrived, want %d", got, 2*n)
			}
			bareRates, drainRates, ratios = append(bareRates, bare), append(drainRates, drain), append(ratios, drain/bare)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(bareRates), "bare/s")
	b.ReportMetric(median(drainRates), "drain/s")
	b.ReportMetric(median(ratios), "drain/bare")
	b.Logf("draining reaches %.0f %% of a bare loop: %.0f and %.0f a second (ratios %.2f)", 100*median(ratios), median(drainRates), median(bareRates), ratios)
	if hasBars() && median(ratios) < 0.4 {
		b.Error("a bar is missed: drain/bare 0.4")
	}
}

var kibibyte = []byte(`{"data":"` + strings.Repeat("x", 1<<10-11) + `"}`)

func rate(n int, do func()) float64 {
	begun := time.Now()
	do()
	return float64(n) / time.Since(begun).Seconds()
}

// backlog queues n deliveries, by turns for the targets.
func (s *sender) backlog(targets []target, n int) {
	s.b.Helper()
	now := time.Now().Add(-time.Minute)
	for part := range slices.Chunk(seq(n), 500) { // as many as are planned at a time
		now = now.Add(time.Millisecond)
		p := webhooks.Plan{Events: make([]events.Event, len(part)), Deliveries: make([]webhooks.Delivery, len(part))}
		for i, at := range part {
			to := targets[at%len(targets)]
			e := events.Event{ID: id.New(id.Event, now), Type: benchEvent, BusinessID: to.business, Data: []byte(`{}`), CreatedAt: now}
			p.Events[i], p.Deliveries[i] = e, webhooks.Delivery{
				ID: id.New(id.Delivery, now), WebhookID: to.webhook.ID, AppID: to.appID, EventID: e.ID, EventType: e.Type, BusinessID: e.BusinessID,
				Body: kibibyte, Status: webhooks.Queued, NextAttemptAt: now, CreatedAt: now,
			}
		}
		if err := s.RecordEvents(s.b.Context(), p.Events...); err != nil {
			s.b.Fatal(err)
		}
		if queued, err := s.SavePlan(s.b.Context(), p); err != nil || queued != len(part) {
			s.b.Fatal(queued, err)
		}
	}
}

// drain runs the service until n outcomes are recorded.
func (s *sender) drain(n int) {
	s.b.Helper()
	left, done := n, make(chan struct{})
	s.recorded = func(outcomes int) {
		if left -= outcomes; left == 0 {
			close(done)
		}
	}
	stop := s.start()
	select {
	case <-done:
	case <-time.After(time.Minute):
		s.b.Fatalf("%d deliveries are left", left)
	}
	defer stop()
}

// bareLoop posts n times, from as many goroutines as the service has places.
func bareLoop(b *testing.B, targets []target, n int) {
	b.Helper()
	client := &http.Client{
		Timeout:   webhooks.AttemptTimeout,
		Transport: &http.Transport{MaxIdleConns: drainTargets * perTarget, MaxIdleConnsPerHost: perTarget, DisableCompression: true},
	}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, to := range targets {
		signer, err := signature.NewSigner(to.secret)
		if err != nil {
			b.Fatal(err)
		}
		for range perTarget {
			wg.Go(func() {
				for next.Add(1) <= int64(n) {
					if err := postBare(client, to.webhook.URL, signer); err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func postBare(client *http.Client, url string, signer *signature.Signer) error {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(kibibyte))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "partnerkit-webhooks")
	req.Header.Set("X-Webhook-Id", "dlv_06g5plpa01o015r0g79mgnmm4c")
	req.Header.Set("X-Webhook-Event", benchEvent)
	req.Header.Set("X-Webhook-Event-Id", "evt_06g5plpa01o015r0g79mgnmm4c")
	req.Header.Set(signature.Header, signer.Sign(time.Now(), kibibyte))
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusNoContent {
		return fmt.Errorf("answered with status %d", res.StatusCode)
	}
	return nil
}
