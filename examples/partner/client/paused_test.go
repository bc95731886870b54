package client_test

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// CLI-01, TOK-12: access_denied at a refresh keeps the token, and the refresh is tried again
// when the cause has passed.
func TestPausedAtTheServer(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	source, api := k.start(t, k.file)
	k.Dev("users/usr_ada/status", `{"status": "SUSPENDED"}`, nil)
	before := k.wire.requests("/oauth/token")
	for range 3 {
		if err := api.Do(t.Context(), profile); !errors.Is(err, client.ErrPaused) || errors.Is(err, client.ErrReauthorize) {
			t.Fatalf("error %v, want ErrPaused", err)
		}
	}
	if n := k.wire.requests("/oauth/token") - before; n != 1 {
		t.Errorf("%d requests for a token, want 1: the others wait", n)
	}
	if stored, ok, err := k.file.Load(); !ok || stored.Refresh != k.first.Refresh || err != nil {
		t.Errorf("the tokens are no longer stored, or %v", err)
	}
	k.Dev("users/usr_ada/status", `{"status": "ACTIVE"}`, nil)
	if err := api.Do(t.Context(), profile); err != nil {
		t.Errorf("afterwards, with the access token: %v", err)
	}
	if _, ok := source.Tokens(); !ok {
		t.Error("the source has no tokens")
	}
}

// refusals is a token endpoint that refuses some refreshes and then gives tokens.
type refusals struct {
	left  int
	times []time.Time
}

func (f *refusals) RoundTrip(*http.Request) (*http.Response, error) {
	f.times = append(f.times, time.Now())
	status, body := http.StatusOK, `{"access_token":"next","refresh_token":"next","token_type":"Bearer","expires_in":3600}`
	if f.left > 0 {
		f.left--
		status, body = http.StatusBadRequest, `{"error":"access_denied"}`
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// CLI-01: the pauses after access_denied grow from a minute to an hour, with jitter; after a
// success they begin again.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		endpoint := &refusals{left: 9}
		file := client.File{Path: filepath.Join(t.TempDir(), "tokens.json")}
		if err := file.Save(client.Tokens{Access: "first", Refresh: "first"}); err != nil {
			t.Fatal(err)
		}
		source, err := client.NewSource(&client.App{HTTP: &http.Client{Transport: endpoint}}, file)
		if err != nil {
			t.Fatal(err)
		}
		token := ""
		for token == "" {
			if token, err = source.Token(t.Context(), "first"); err != nil && !errors.Is(err, client.ErrPaused) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if token != "next" || len(endpoint.times) != 10 {
			t.Fatalf("the token %q after %d refreshes", token, len(endpoint.times))
		}
		want := time.Minute
		for i := range 9 {
			if pause := endpoint.times[i+1].Sub(endpoint.times[i]); pause < want || pause > want*3/2+time.Second {
				t.Errorf("pause %d: %v, want %v to %v", i, pause, want, want*3/2)
			}
			want = min(2*want, time.Hour)
		}
		endpoint.left = 1
		if _, err := source.Token(t.Context(), "next"); !errors.Is(err, client.ErrPaused) {
			t.Error(err)
		}
		time.Sleep(90 * time.Second)
		if _, err := source.Token(t.Context(), "next"); err != nil {
			t.Errorf("after a success the pause is still long: %v", err)
		}
	})
}
