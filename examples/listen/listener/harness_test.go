package listener_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/listen/listener"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

const clientID, business = "ledgerlink-cli", servertest.Business

// start is a listener of a server where the business has connected the app.
func start(t *testing.T, cfg listener.Config) (*servertest.Server, *listener.Listener) {
	t.Helper()
	server := servertest.Start(t, "")
	cfg.API, cfg.UserID = server.API, "usr_dev"
	if cfg.AppID == "" {
		cfg.ClientID = clientID
	}
	l, err := listener.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	connect(t, server)
	return server, l
}

func connect(t *testing.T, server *servertest.Server) {
	t.Helper()
	res, err := http.PostForm(server.API+"/oauth/device/authorize", url.Values{"client_id": {clientID}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var device struct {
		UserCode string `json:"user_code"`
	}
	if err := json.NewDecoder(res.Body).Decode(&device); err != nil {
		t.Fatal(err)
	}
	server.DecideDevice(device.UserCode, "allow")
}

// next returns the next delivery. It fails the test if there is none within one minute.
func next(t *testing.T, l *listener.Listener) listener.Delivery {
	t.Helper()
	select {
	case d, ok := <-l.Deliveries():
		if !ok {
			t.Fatal("the listener is closed")
		}
		return d
	case <-time.After(time.Minute):
		t.Fatal("no delivery")
	}
	panic("unreachable")
}

func trigger(t *testing.T, l *listener.Listener, eventType string) (eventID string) {
	t.Helper()
	id, err := l.Trigger(t.Context(), listener.Occurrence{BusinessID: business, Type: eventType})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// passed is what arrived behind a listener.
type passed struct {
	header http.Header
	body   []byte
}

// target is the server that a partner develops: it responds with the given statuses.
func target(t *testing.T, responses ...int) (address string, got <-chan passed) {
	t.Helper()
	arrived := make(chan passed, len(responses))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(responses) == 0 {
			t.Errorf("one too many, or broken: %v", err)
			return
		}
		arrived <- passed{r.Header.Clone(), body}
		w.WriteHeader(responses[0])
		responses = responses[1:]
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hook?a=b", arrived
}
