package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func listen(t *testing.T, port int) net.Listener {
	t.Helper()
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// receiver is the program, and the lines that it writes.
type receiver struct {
	lines *bufio.Scanner
	stop  func()
}

func start(t *testing.T, socket net.Listener, o options) *receiver {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, o, socket, in, io.Discard)
		_ = in.Close()
	}()
	return &receiver{bufio.NewScanner(out), func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, out) }() // output that the test did not read
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}}
}

// next waits for the next event of a type that was worked on.
func (r *receiver) next(t *testing.T, kind string) inbox.Event {
	t.Helper()
	for r.lines.Scan() {
		var e inbox.Event
		if err := json.Unmarshal(r.lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == kind {
			return e
		}
	}
	t.Fatal("it has stopped")
	return inbox.Event{}
}

// connect asks the demo's business, and returns an access token.
func connect(t *testing.T, server *servertest.Server, url string) string {
	t.Helper()
	metadata, err := client.Discover(t.Context(), http.DefaultClient, server.API)
	if err != nil {
		t.Fatal(err)
	}
	app := &client.App{
		Metadata: metadata, ClientID: servertest.ClientID, ClientSecret: servertest.ClientSecret,
		RedirectURL: url + "/callback", Scopes: []string{"events:read", "invoices:read"}, HTTP: http.DefaultClient,
	}
	attempt := app.Begin()
	tokens, err := app.Finish(t.Context(), attempt, server.Approve(attempt.URL))
	if err != nil {
		t.Fatal(err)
	}
	return tokens.Access
}

// CLI-02: against the reference server, the receiver handles webhooks as they arrive, even
// if the server's clock was moved. It reads the events that it missed while it was stopped
// from the Events API, and handles no event twice when the sender retries.
func TestReceiver(t *testing.T) {
	t.Parallel()
	socket := listen(t, 0)
	port := socket.Addr().(*net.TCPAddr).Port
	url := "http://localhost:" + strconv.Itoa(port)
	server := servertest.Start(t, url)
	o := options{secrets: []string{"whsec_other", servertest.WebhookSecret}, db: filepath.Join(t.TempDir(), "receiver.db"), api: server.API, every: time.Hour}
	record := func(id string) (event string) {
		var recorded struct{ ID string }
		server.Dev("events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "`+id+`"}}`, &recorded)
		return recorded.ID
	}

	r := start(t, socket, o)
	o.token = connect(t, server, url)
	if e := r.next(t, "app.installed"); e.BusinessID != servertest.Business {
		t.Errorf("installed in %s", e.BusinessID)
	}
	want := record("inv_1")
	if e := r.next(t, "invoice.created"); e.ID != want || !strings.Contains(string(e.Data), "inv_1") {
		t.Errorf("%+v, want %s", e, want)
	}
	server.Dev("clock", `{"advanceSeconds": 3000}`, nil)
	want = record("inv_2")
	if e := r.next(t, "invoice.created"); e.ID != want {
		t.Errorf("with a moved clock: %+v, want %s", e, want)
	}
	r.stop()

	missed := record("inv_3")
	server.Dev("clock", `{"advanceSeconds": 0}`, nil) // which waits until it was sent, in vain
	r = start(t, listen(t, port), o)
	if e := r.next(t, "invoice.created"); e.ID != missed {
		t.Errorf("fetched %+v, want %s", e, missed)
	}
	server.Dev("clock", `{"advanceSeconds": 60}`, nil) // and it is sent again
	want = record("inv_4")
	if e := r.next(t, "invoice.created"); e.ID != want {
		t.Errorf("%+v, want %s and nothing twice", e, want)
	}
	r.stop()
}
