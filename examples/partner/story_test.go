package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// listen opens a port on loopback; 0 picks one.
func listen(t *testing.T, port int) net.Listener {
	t.Helper()
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// app is the program at an address that the server knows.
type app struct {
	*servertest.Server
	port int
	args []string
}

func newApp(t *testing.T) (*app, net.Listener) {
	t.Helper()
	socket := listen(t, 0)
	port := socket.Addr().(*net.TCPAddr).Port
	url := "http://localhost:" + strconv.Itoa(port)
	server := servertest.Start(t, url)
	return &app{server, port, []string{"-api", server.API, "-url", url, "-data", t.TempDir()}}, socket
}

func (a *app) run(t *testing.T, socket net.Listener, args ...string) (string, error) {
	t.Helper()
	o, err := parseOptions(append(a.args, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = tell(t.Context(), o, socket, &out)
	return out.String(), err
}

// has reports whether lines with these words come in this order.
func has(transcript string, words ...string) bool {
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile(`(?s)` + strings.Join(words, ".*")).MatchString(strings.Join(strings.Fields(transcript), " "))
}

// CLI-01, CLI-02, SBX-01: the whole story against the reference server: at first,
// again, and after its clock has moved by two hours and by a month.
func TestStory(t *testing.T) {
	t.Parallel()
	a, socket := newApp(t)
	const asking, saved = "=> asking", "GET /profile 200 299 of 300 left"
	for _, run := range []struct {
		name  string
		moved int
		args  []string
		want  []string // in the first chapters
	}{
		{"first", 0, nil, []string{asking, "POST /login 303", "POST /oauth/token 200", saved}},
		{"again", 60, nil, []string{saved, "GET /events 200"}},
		{"two hours later", 2 * 3600, nil, []string{"GET /profile 401", "POST /oauth/token 200", saved}},
		{"a month later", 31 * 24 * 3600, nil, []string{"GET /profile 401", "POST /oauth/token 400", asking, saved, "GET /events 400", "GET /events 200"}},
		{"for the last time", 60, []string{"-disconnect"}, []string{saved}},
		{"after that", 60, nil, []string{"=> asking", saved}},
	} {
		a.Dev("clock", `{"advanceSeconds": `+strconv.Itoa(run.moved)+`}`, nil)
		if socket == nil {
			socket = listen(t, a.port)
		}
		out, err := a.run(t, socket, run.args...)
		socket = nil
		if err != nil {
			t.Fatalf("%s: %v\n%s", run.name, err, out)
		}
		before, after, _ := strings.Cut(out, "\nA write,")
		if run.name == "first" && !has(out, "POST /webhooks 204 app.installed") {
			t.Errorf("the output lacks that the app was installed:\n%s", out)
		}
		if !has(before, run.want...) {
			t.Errorf("%s: it does not begin with %q:\n%s", run.name, run.want, before)
		}
		for _, want := range [][]string{
			{"POST /invoices 201", "POST /invoices 201"},
			{"POST /webhooks 204 invoice.created", "POST /webhooks 503 invoice.created", "GET /events 200", "new to us: 1", "was fetched"},
			{"PUT /app-data 200", "GET /app-data 200", "DELETE /app-data/adv_"},
			{"POST /oauth/revoke 200", "GET /profile 401", "POST /oauth/token 200", "GET /profile 200"},
			{"POST /oauth/revoke 200", "GET /profile 401", "POST /oauth/token 400", "=> asking", "GET /callback 200", "GET /profile 200"},
		} {
			if !has(after, want...) {
				t.Errorf("%s: no %q:\n%s", run.name, want, after)
			}
		}
		_, ten, _ := strings.Cut(out, "under ten calls")
		ten, _, _ = strings.Cut(ten, "The grant dies")
		if n := strings.Count(ten, "/oauth/token"); n != 1 {
			t.Errorf("%s: %d refreshes for ten calls, want 1", run.name, n)
		}
		for _, secret := range []string{servertest.ClientSecret, "whsec_", "code=", "demo-ada"} {
			if strings.Contains(out, secret) {
				t.Errorf("%s: the transcript has %q", run.name, secret)
			}
		}
	}
}

// bystander is a buffer that calls act when the output asks the user to open a page.
type bystander struct {
	bytes.Buffer
	act func(page string)
}

var openPage = regexp.MustCompile(`=> open (\S+) and allow`)

func (b *bystander) Write(text []byte) (int, error) {
	if page := openPage.FindSubmatch(text); page != nil {
		go b.act(string(page[1]))
	}
	return b.Buffer.Write(text)
}

// With -browser the program waits until a user opens the page that it names.
func TestStoryWithABrowser(t *testing.T) {
	t.Parallel()
	a, socket := newApp(t)
	o, err := parseOptions(append(a.args, "-browser"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	visitor, err := newPerson(o, &transcript{base: http.DefaultTransport, out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	out := &bystander{act: func(page string) {
		if err := visitor.connect(t.Context(), page); err != nil {
			t.Error(err)
		}
	}}
	if err := tell(t.Context(), o, socket, out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

// A person who cannot sign in, or may not connect that business, gets told so.
func TestStoryWithoutAccess(t *testing.T) {
	t.Parallel()
	a, socket := newApp(t)
	if out, err := a.run(t, socket, "-password", "wrong"); err == nil || !strings.Contains(err.Error(), "the password is wrong") {
		t.Errorf("error %v\n%s", err, out)
	}
	if out, err := a.run(t, listen(t, a.port), "-business", "biz_cycles"); err == nil {
		t.Errorf("connected a business of another user:\n%s", out)
	}
}
