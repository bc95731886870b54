package client_test

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// wire is the network, with a count of what went over it.
type wire struct {
	mu    sync.Mutex
	count map[string]int
	// lose, when not nil, says whether the response to a request gets lost.
	lose func(r *http.Request) error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == nil {
		w.count = make(map[string]int)
	}
	w.count[r.URL.Path]++
	if err == nil && w.lose != nil {
		if err := w.lose(r); err != nil {
			_ = res.Body.Close()
			return nil, err
		}
	}
	return res, err
}

func (w *wire) requests(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count[path]
}

// harness is an app that is connected at a reference server.
type harness struct {
	*servertest.Server
	app   *client.App
	file  client.File
	wire  *wire
	first client.Tokens
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	k := &harness{Server: servertest.Start(t, ""), file: client.File{Path: filepath.Join(t.TempDir(), "tokens.json")}, wire: &wire{}}
	metadata, err := client.Discover(t.Context(), http.DefaultClient, k.API)
	if err != nil {
		t.Fatal(err)
	}
	k.app = &client.App{
		Metadata: metadata, ClientID: servertest.ClientID, ClientSecret: servertest.ClientSecret,
		RedirectURL: servertest.DemoURL + "/callback", Scopes: []string{"profile:read"},
		HTTP: &http.Client{Transport: client.TokenRetry(k.wire)},
	}
	k.connect(t)
	return k
}

// connect asks the business, and stores what it gave.
func (k *harness) connect(t *testing.T) {
	t.Helper()
	attempt := k.app.Begin()
	tokens, err := k.app.Finish(t.Context(), attempt, k.Approve(attempt.URL))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.file.Save(tokens); err != nil {
		t.Fatal(err)
	}
	k.first = tokens
}

// start is the app after a start: what it has is what is stored.
func (k *harness) start(t *testing.T, store client.Store) (*client.Source, client.API) {
	t.Helper()
	source, err := client.NewSource(k.app, store)
	if err != nil {
		t.Fatal(err)
	}
	return source, client.API{URL: k.API, HTTP: &http.Client{Transport: client.Bearer{Source: source, Base: client.Retry{Base: k.wire}}}}
}

var profile = client.Call{Method: http.MethodGet, Path: "/profile"}
