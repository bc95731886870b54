package webhooks_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// oneAddress is a name server that knows one address.
type oneAddress netip.Addr

func (a oneAddress) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.Addr(a)}, nil
}

// DLV-07: a webhook whose name has moved to an address that is not public is not dialled,
// for an event or for a test (CVE-2018-15192, CVE-2026-55671), and the partner sees the
// same error as for an address without a server.
func TestBlockedAddresses(t *testing.T) {
	t.Parallel()
	for address, dialed := range map[string]int32{
		"127.0.0.1": 0, "10.0.0.1": 0, "169.254.169.254": 0, "::ffff:169.254.169.254": 0, "64:ff9b::a00:1": 0, "fd00:ec2::254": 0,
		"93.184.216.34": 2, // the guard is not merely closed
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int32
				client, err := outbound.New(outbound.Config{
					Resolver: oneAddress(netip.MustParseAddr(address)),
					Dial: func(context.Context, string, string) (net.Conn, error) {
						dials.Add(1)
						return nil, errors.New("connection refused")
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				r := newHarness(t, webhooks.Config{})
				r.svc.UseClient(client)
				r.start()
				a := r.app("127.0.0.1", "invoice.created")
				_, err = r.svc.Update(t.Context(), a.ID, a.webhook.ID, webhooks.Change{URL: new("https://partner.example/hook")})
				r.must(err)
				r.record(a.business, "invoice.created")
				_, err = r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
				r.must(err)
				r.settle()
				page, err := r.svc.Deliveries(t.Context(), partner.DeliveryQuery{AppID: a.ID, WebhookID: a.webhook.ID})
				r.must(err)
				for _, d := range page.Deliveries {
					if d.Status != partner.DeliveryRetrying || d.LastError != "connection failed" || d.ResponseCode != 0 {
						t.Errorf("%+v", d)
					}
				}
				if len(page.Deliveries) != 2 || dials.Load() != dialed {
					t.Errorf("%d deliveries, dialled %d times, want %d", len(page.Deliveries), dials.Load(), dialed)
				}
			})
		})
	}
}

// WH-01, DLV-07: the guard that production gets by itself is the strict one: what was
// saved in development is not sent to after it.
func TestLoopbackAfterDevelopment(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(receiver.Close)
	r := newHarness(t, webhooks.Config{}) // not in a bubble: the sockets are real
	a := r.app(strings.TrimPrefix(receiver.URL, "http://"), "invoice.created")
	for _, development := range []bool{false, true} { // the second shows that the address is reachable
		sender, err := webhooks.New(webhooks.Config{Store: r.Store, Keyring: fixture.Keyring(1), CurrentVersion: "2026-09-01", Options: webhooks.Options{AllowLoopback: development}})
		r.must(err)
		d, err := sender.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		r.must(err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sender.Run(ctx) }()
		for deadline := time.Now().Add(time.Minute); d.Attempts == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			d, _, err = sender.Delivery(t.Context(), a.ID, a.webhook.ID, d.ID)
			r.must(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
		want := partner.DeliveryRetrying
		if development {
			want = partner.DeliveryDelivered
		}
		if d.Status != want || (hits.Load() > 0) != development {
			t.Errorf("development %t: %+v, %d requests arrived", development, d, hits.Load())
		}
	}
}
