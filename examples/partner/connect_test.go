package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// CLI-01: /callback takes the attempt of the browser that began it, once, and sends
// no code anywhere otherwise.
func TestCallback(t *testing.T) {
	t.Parallel()
	sent := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r", "scope": "s"}`))
	}))
	defer service.Close()
	application := &client.App{
		Metadata: client.Metadata{AuthorizationEndpoint: service.URL + "/authorize", TokenEndpoint: service.URL + "/token"},
		ClientID: "id", ClientSecret: "secret", HTTP: service.Client(),
	}
	source, err := client.NewSource(application, client.File{Path: filepath.Join(t.TempDir(), "tokens.json")})
	if err != nil {
		t.Fatal(err)
	}
	d := newConnector(application, source)

	begin := func() (state string, cookie *http.Cookie) {
		w := httptest.NewRecorder()
		d.connect(w, httptest.NewRequest(http.MethodGet, "/connect", nil))
		to, err := url.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		return to.Query().Get("state"), w.Result().Cookies()[0]
	}
	state, cookie := begin()
	other, otherCookie := begin()
	made := *cookie
	made.Value = "made up"
	for _, test := range []struct {
		name   string
		state  string
		cookie *http.Cookie
		want   int
	}{
		{"no cookie", state, nil, http.StatusBadRequest},
		{"another browser's cookie", state, otherCookie, http.StatusBadRequest},
		{"another attempt's state", other, cookie, http.StatusBadRequest},
		{"no state", "", cookie, http.StatusBadRequest},
		{"state and cookie made up", made.Value, &made, http.StatusBadRequest},
		{"the right ones", state, cookie, http.StatusOK},
		{"the right ones again", state, cookie, http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodGet, "/callback?"+url.Values{"code": {"c"}, "state": {test.state}}.Encode(), nil)
		if test.cookie != nil {
			r.AddCookie(test.cookie)
		}
		w := httptest.NewRecorder()
		d.callback(w, r)
		wantSent := 0
		if test.want == http.StatusOK {
			wantSent = 1
		}
		if w.Code != test.want || sent != wantSent {
			t.Errorf("%s: %d and %d codes sent, want %d and %d", test.name, w.Code, sent, test.want, wantSent)
		}
		sent = 0
	}
	if tokens, ok := source.Tokens(); !ok || tokens.Access != "a" {
		t.Error("no tokens")
	}
}

// The memory for attempts is bounded.
func TestTooManyAttempts(t *testing.T) {
	t.Parallel()
	d := newConnector(&client.App{}, nil)
	for i := range maxAttempts + 1 {
		w := httptest.NewRecorder()
		d.connect(w, httptest.NewRequest(http.MethodGet, "/connect", nil))
		if full := w.Code == http.StatusServiceUnavailable; full != (i == maxAttempts) {
			t.Fatalf("attempt %d: %d", i, w.Code)
		}
	}
}
