package listener_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/examples/listen/listener"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// CAT-02, WH-02: what the app may see arrives, of a business and of the app's own
// life, with the catalog's sample or data of the caller's.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	_, l := start(t, listener.Config{})
	if d := next(t, l); d.Type != "app.installed" || d.Status != http.StatusNoContent {
		t.Fatalf("%+v", d)
	}
	if id, d := trigger(t, l, "invoice.paid"), next(t, l); d.EventID != id || d.BusinessID != business || len(d.Data) < len(`{"id":""}`) {
		t.Errorf("invoice.paid %s arrived as %+v", id, d)
	}
	if id, d := trigger(t, l, "app.uninstalled"), next(t, l); d.EventID != id {
		t.Errorf("app.uninstalled %s arrived as %+v", id, d)
	}
	if _, err := l.Trigger(t.Context(), listener.Occurrence{BusinessID: business, Type: "invoice.voided", Data: json.RawMessage(`{"id":"inv_1"}`)}); err != nil {
		t.Fatal(err)
	}
	if d := next(t, l); string(d.Data) != `{"id":"inv_1"}` {
		t.Errorf("data %s", d.Data)
	}
}

// SIG-01, DLV-01: the same headers and bytes reach the partner, who verifies them by
// the secret; their failure is the service's failure.
func TestForward(t *testing.T) {
	t.Parallel()
	address, got := target(t, http.StatusInternalServerError, http.StatusAccepted)
	server, l := start(t, listener.Config{AppID: "app_cli", Events: []string{"invoice.paid"}, Forward: address})
	trigger(t, l, "invoice.paid")
	var bodies [][]byte
	for _, want := range []int{http.StatusInternalServerError, http.StatusAccepted} {
		d, p := after(t, server, l), <-got
		if d.Status != want {
			t.Errorf("answered %d, want %d", d.Status, want)
		}
		if diff := cmp.Diff(without(d.Header), without(p.header)); diff != "" || !bytes.Equal(d.Body, p.body) {
			t.Errorf("passed on %s as %s\n%s", d.Body, p.body, diff)
		}
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{l.Secret()}, Tolerance: 10 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(p.header.Get(signature.Header), p.body); err != nil {
			t.Error(err)
		}
		bodies = append(bodies, p.body)
	}
	if !bytes.Equal(bodies[0], bodies[1]) {
		t.Errorf("tried again as %s, first %s", bodies[1], bodies[0])
	}
}

// DLV-01: a refused connection is a failure like any other, and the delivery is retried.
func TestForwardToNobody(t *testing.T) {
	t.Parallel()
	server, l := start(t, listener.Config{Events: []string{"invoice.paid"}, Forward: "http://127.0.0.1:1/hook"})
	id := trigger(t, l, "invoice.paid")
	for range 2 {
		if d := after(t, server, l); d.EventID != id || d.Status != http.StatusBadGateway {
			t.Errorf("%s: answered %d", d.EventID, d.Status)
		}
	}
}

// after is the next delivery, however long the service waits before it: the clock goes
// on until it is there.
func after(t *testing.T, server *servertest.Server, l *listener.Listener) listener.Delivery {
	t.Helper()
	for range 300 {
		select {
		case d := <-l.Deliveries():
			return d
		case <-time.After(200 * time.Millisecond):
			server.Dev("clock", `{"advanceSeconds": 60}`, nil)
		}
	}
	t.Fatal("no delivery")
	panic("unreachable")
}

// without what Go writes for the connection.
func without(header http.Header) http.Header {
	header = header.Clone()
	header.Del("Content-Length")
	header.Del("Connection")
	return header
}

// SIG-03, SBX-01: signatures are checked by the service's clock, wherever it is.
func TestMovedClock(t *testing.T) {
	t.Parallel()
	server, l := start(t, listener.Config{Events: []string{"invoice.paid"}})
	for range 2 {
		server.Dev("clock", `{"advanceSeconds": 2592000}`, nil)
		if id, d := trigger(t, l, "invoice.paid"), next(t, l); d.EventID != id {
			t.Errorf("%s arrived as %+v", id, d)
		}
	}
}

// SIG-03: a request that the service did not sign is not shown and not forwarded.
func TestForged(t *testing.T) {
	t.Parallel()
	address, got := target(t, http.StatusOK)
	server, l := start(t, listener.Config{Events: []string{"invoice.paid"}, Forward: address})
	body := `{"id":"dlv_1","eventId":"evt_1","type":"invoice.paid","data":{}}`
	stranger, err := signature.NewSigner("whsec_another")
	if err != nil {
		t.Fatal(err)
	}
	own, err := signature.NewSigner(l.Secret())
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{
		"":                                      http.StatusUnauthorized,
		stranger.Sign(time.Now(), []byte(body)): http.StatusUnauthorized,
		own.Sign(time.Now().Add(-time.Hour), []byte(body)):     http.StatusUnauthorized,
		own.Sign(time.Now(), []byte(body+" ")):                 http.StatusUnauthorized,
		"t=1,v1=" + strings.Repeat("0", 64) + ",v1=zz":         http.StatusBadRequest,
		own.Sign(time.Now(), bytes.Repeat([]byte("x"), 2<<20)): http.StatusRequestEntityTooLarge,
	} {
		text := io.Reader(strings.NewReader(body))
		if want == http.StatusRequestEntityTooLarge {
			text = bytes.NewReader(bytes.Repeat([]byte("x"), 2<<20))
		}
		r, err := http.NewRequest(http.MethodPost, l.URL(), text)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(signature.Header, header)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: %d, want %d", header, res.StatusCode, want)
		}
	}
	server.Dev("clock", `{"advanceSeconds": 0}`, nil)
	id := trigger(t, l, "invoice.paid")
	if d, p := next(t, l), <-got; d.EventID != id || !bytes.Contains(p.body, []byte(id)) {
		t.Errorf("the first to arrive is %s", d.Body)
	}
}

// Close removes everything that a listener created, or returns an error that names the rest.
func TestClose(t *testing.T) {
	t.Parallel()
	p, err := servertest.Launch()
	if err != nil {
		t.Fatal(err)
	}
	var left *listener.Listener
	for i := range 2 {
		l, err := listener.Start(t.Context(), listener.Config{API: p.API + "/", UserID: "usr_dev", ClientID: clientID})
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			left = l
			break
		}
		for range 2 { // twice is once
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, open := <-l.Deliveries(); open {
			t.Error("a delivery after Close")
		}
		if hooks := webhooks(t, p.API); hooks != `{"data":[]}` {
			t.Errorf("left behind: %s", hooks)
		}
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err == nil || !strings.Contains(err.Error(), "of app app_cli is still there") || !strings.Contains(err.Error(), "whk_") {
		t.Errorf("without a server: %v", err)
	}
}

// webhooks of the app, as the console lists them.
func webhooks(t *testing.T, api string) string {
	t.Helper()
	res, err := http.Post(api+"/dev/sessions", "application/json", strings.NewReader(`{"userId": "usr_dev"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r, err := http.NewRequest(http.MethodGet, api+"/developer/apps/app_cli/webhooks", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range res.Cookies() {
		r.AddCookie(cookie)
	}
	res, err = http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, "")
	good := listener.Config{API: server.API, UserID: "usr_dev", ClientID: clientID}
	for want, spoil := range map[string]func(*listener.Config){
		"Config.API must be":                   func(c *listener.Config) { c.API = "localhost:8080" },
		"Config.UserID is empty":               func(c *listener.Config) { c.UserID = "" },
		"one of Config.AppID and":              func(c *listener.Config) { c.AppID = "app_cli" },
		"Config.Forward must be":               func(c *listener.Config) { c.Forward = "127.0.0.1:4242" },
		"usr_dev has no app papertrail-beta":   func(c *listener.Config) { c.ClientID = "papertrail-beta" },
		"sign in: POST /dev/sessions: status":  func(c *listener.Config) { c.UserID = "usr_nobody" },
		"invoice.lost":                         func(c *listener.Config) { c.Events = []string{"invoice.lost"} },
		"is " + server.App + " in development": func(c *listener.Config) { c.API = server.App },
	} {
		cfg := good
		spoil(&cfg)
		l, err := listener.Start(t.Context(), cfg)
		if err == nil {
			err = fmt.Errorf("it started; closing: %w", l.Close())
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, what := range map[string]listener.Occurrence{
		`there is no event "invoice.lost"`: {BusinessID: business, Type: "invoice.lost"},
		"POST /dev/events: status 404":     {BusinessID: "biz_nobody", Type: "invoice.paid"},
		"POST /dev/events: status 400":     {BusinessID: business, Type: "invoice.paid", Data: json.RawMessage(`[]`)},
	} {
		if _, err := listener.Trigger(t.Context(), good, what); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
