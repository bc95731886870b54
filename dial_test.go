package partnerkit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/webhooks"
)

// addresses are those that were dialled.
type addresses struct {
	mu  sync.Mutex
	all []string
}

func (a *addresses) add(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, address)
}

// distinct returns them sorted, each once.
func (a *addresses) distinct() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(a.all)))
}

// refuse is a Config.Dial that opens no connection.
func (a *addresses) refuse(_ context.Context, _, address string) (net.Conn, error) {
	a.add(address)
	return nil, errors.New("no connections in this test")
}

// DLV-07, CIMD-02: webhooks and documents leave through Config.Dial, by addresses that were
// checked.
func TestDial(t *testing.T) {
	t.Parallel()
	var dialled addresses
	cfg := config(t)
	cfg.Dial = dialled.refuse
	if got := reachOut(t, cfg, "http://hook.localhost:81/", "http://tool.localhost:82/client.json"); got.Status != partner.DeliveryRetrying {
		t.Errorf("the delivery is %s, want %s", got.Status, partner.DeliveryRetrying)
	}
	want := []string{"127.0.0.1:81", "127.0.0.1:82", "[::1]:81", "[::1]:82"}
	if diff := cmp.Diff(want, dialled.distinct()); diff != "" {
		t.Errorf("Dial was called with (-want +got):\n%s", diff)
	}
}

// The guide's Dial works.
func TestThroughProxy(t *testing.T) {
	t.Parallel()
	received := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Host }))
	t.Cleanup(receiver.Close)
	var asked addresses
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.add(r.Host); r.Method != http.MethodConnect || !strings.HasSuffix(r.Host, ":81") {
			http.Error(w, "only to port 81", http.StatusForbidden)
			return
		}
		there, err := net.Dial("tcp", receiver.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		var copying sync.WaitGroup
		copying.Go(func() {
			_, _ = io.Copy(there, here)
			_ = there.Close()
		})
		_, _ = io.Copy(here, there)
		_ = here.Close()
		copying.Wait()
	}))
	t.Cleanup(proxy.Close)
	cfg := config(t)
	cfg.Dial = throughProxy(strings.TrimPrefix(proxy.URL, "http://"))
	if got := reachOut(t, cfg, "http://127.0.0.1:81/", "http://127.0.0.1:82/client.json"); got.Status != partner.DeliveryDelivered {
		t.Errorf("the delivery is %+v, want %s", got, partner.DeliveryDelivered)
	}
	if host := <-received; host != "127.0.0.1:81" {
		t.Errorf("the receiver is called %q", host)
	}
	if diff := cmp.Diff([]string{"127.0.0.1:81", "127.0.0.1:82"}, asked.distinct()); diff != "" {
		t.Errorf("the proxy was asked for (-want +got):\n%s", diff)
	}
}

// reachOut sends a test delivery to a webhook and fetches a client metadata document. It
// returns the delivery after its first attempt.
func reachOut(t *testing.T, cfg partnerkit.Config, webhook, document string) partner.Delivery {
	t.Helper()
	cfg.Host = somebody{partnertest.NewHost()}
	cfg.Webhooks.AllowLoopback, cfg.OAuth.Documents.AllowLoopback = true, true
	p := platform(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	get(p.App(), "/oauth/authorize?"+url.Values{
		"client_id": {document}, "response_type": {"code"}, "redirect_uri": {"http://127.0.0.1/cb"},
		"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"},
	}.Encode())

	created, err := p.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Sync", Type: partner.Confidential, OrganizationID: "org_1",
		RedirectURIs: []string{"https://partner.example/cb"}, Scopes: identity.MustScopes("invoices:read"),
	})
	if err != nil {
		t.Fatal(err)
	}
	hook, _, err := p.Webhooks().Create(t.Context(), webhooks.NewWebhook{AppID: created.App.ID, URL: webhook, Events: []string{"invoice.created"}})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := p.Webhooks().SendTest(t.Context(), created.App.ID, hook.ID, "")
	for err == nil && sent.Attempts == 0 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
		sent, _, err = p.Webhooks().Delivery(t.Context(), created.App.ID, hook.ID, sent.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sent
}
