package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	d := newConnector(application, source, t.Logf)

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
	other, otherCookie := begin() // in another tab
	if want := (http.Cookie{Name: cookie.Name, Value: cookie.Value, Path: "/", MaxAge: 900, HttpOnly: true, SameSite: http.SameSiteLaxMode, Raw: cookie.Raw}); !reflect.DeepEqual(*cookie, want) {
		t.Errorf("the cookie is %+v", cookie)
	}
	named := func(state, value string) *http.Cookie {
		return &http.Cookie{Name: strings.TrimSuffix(cookie.Name, cookieState(t, cookie)) + state, Value: value}
	}
	until := time.Now().Add(time.Minute)
	over, foreign := application.Begin(), application.Begin()
	sealedOver, err := application.Seal(over, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	sealedForeign, err := (&client.App{ClientSecret: "another"}).Seal(foreign, until)
	if err != nil {
		t.Fatal(err)
	}
	tampered := strings.ToUpper(cookie.Value[:1]) + "x" + cookie.Value[2:]
	for _, test := range []struct {
		name   string
		state  string
		cookie *http.Cookie
		want   int
	}{
		{"no cookie", state, nil, http.StatusBadRequest},
		{"another browser's cookie", state, otherCookie, http.StatusBadRequest},
		{"another attempt's state", other, cookie, http.StatusBadRequest},
		{"another attempt's cookie, renamed", state, named(state, otherCookie.Value), http.StatusBadRequest},
		{"no state", "", cookie, http.StatusBadRequest},
		{"state and cookie made up", "made", named("made", "up"), http.StatusBadRequest},
		{"state and cookie from another app", foreign.State, named(foreign.State, sealedForeign), http.StatusBadRequest},
		{"a tampered cookie", state, &http.Cookie{Name: cookie.Name, Value: tampered}, http.StatusBadRequest},
		{"an attempt that is over", over.State, named(over.State, sealedOver), http.StatusBadRequest},
		{"the right ones", state, cookie, http.StatusOK},
		{"the right ones again", state, cookie, http.StatusBadRequest},
		{"those of the other tab", other, otherCookie, http.StatusOK},
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
		if test.want == http.StatusOK && (len(w.Result().Cookies()) != 1 || w.Result().Cookies()[0].Name != test.cookie.Name || w.Result().Cookies()[0].MaxAge >= 0) {
			t.Errorf("%s: the cookie is left: %v", test.name, w.Header())
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

// cookieState is the state that a cookie's name ends with.
func cookieState(t *testing.T, cookie *http.Cookie) string {
	t.Helper()
	i := strings.LastIndexByte(cookie.Name, '_')
	if i < 0 {
		t.Fatalf("a cookie named %q", cookie.Name)
	}
	return cookie.Name[i+1:]
}

// CLI-01: strangers who begin attempts and never come back keep nobody else from connecting, and
// fill no memory.
func TestStrangers_CLI01(t *testing.T) {
	t.Parallel()
	d := newConnector(&client.App{ClientSecret: "secret"}, nil, t.Logf)
	for i := range 500 {
		w := httptest.NewRecorder()
		d.connect(w, httptest.NewRequest(http.MethodGet, "/connect", nil))
		if w.Code != http.StatusSeeOther {
			t.Fatalf("attempt %d: %d %s", i, w.Code, w.Body)
		}
	}
	for i := range 3 * spentStates {
		if !d.spend(strconv.Itoa(i)) || d.spend(strconv.Itoa(i)) {
			t.Fatalf("state %d was not spent once", i)
		}
	}
	if len(d.spent) > spentStates {
		t.Errorf("%d states are kept", len(d.spent))
	}
}

// CLI-01: behind https the cookies are of this host alone, wherever the app's paths begin.
func TestCookieOfThisHost_CLI01(t *testing.T) {
	t.Parallel()
	d := newConnector(&client.App{ClientSecret: "secret", RedirectURL: "https://example.com/app/callback"}, nil, t.Logf)
	w := httptest.NewRecorder()
	d.connect(w, httptest.NewRequest(http.MethodGet, "/connect", nil))
	cookie := w.Result().Cookies()[0]
	if !strings.HasPrefix(cookie.Name, "__Host-") || cookie.Path != "/" || !cookie.Secure || cookie.Domain != "" {
		t.Errorf("the cookie is %+v", cookie)
	}
	if size := len(cookie.Name) + len(cookie.Value); maxAttempts*size > 4096 {
		t.Errorf("an attempt takes %d bytes of each request", size)
	}
	state := cookieState(t, cookie)
	r := httptest.NewRequest(http.MethodGet, "/callback?state="+state, nil)
	r.AddCookie(&http.Cookie{Name: attemptCookie + state, Value: cookie.Value}) // as another host could set it
	if w = httptest.NewRecorder(); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	if d.callback(w, r); w.Code != http.StatusBadRequest {
		t.Errorf("a cookie without the prefix: %d", w.Code)
	}
}

// A browser that begins many attempts keeps the last ones only.
func TestManyAttemptsOfOneBrowser(t *testing.T) {
	t.Parallel()
	d := newConnector(&client.App{ClientSecret: "secret"}, nil, t.Logf)
	var cookies []*http.Cookie
	for range 100 {
		r := httptest.NewRequest(http.MethodGet, "/connect", nil)
		r.AddCookie(&http.Cookie{Name: "session", Value: "of something else"})
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		d.connect(w, r)
		for _, set := range w.Result().Cookies() {
			if set.MaxAge > 0 {
				cookies = append(cookies, set)
				continue
			}
			cookies = slices.DeleteFunc(cookies, func(c *http.Cookie) bool { return c.Name == set.Name })
		}
	}
	if len(cookies) != maxAttempts {
		t.Errorf("the browser has %d cookies", len(cookies))
	}
	for _, cookie := range cookies {
		if _, err := d.app.Open(cookieState(t, cookie), cookie.Value, time.Now()); err != nil {
			t.Error(err)
		}
	}
}

// A stranger whose attempt fails does not end the story of somebody else.
func TestStrangerFails_CLI01(t *testing.T) {
	t.Parallel()
	d := newConnector(&client.App{ClientSecret: "secret"}, nil, t.Logf)
	w := httptest.NewRecorder()
	d.connect(w, httptest.NewRequest(http.MethodGet, "/connect", nil))
	cookie := w.Result().Cookies()[0]
	r := httptest.NewRequest(http.MethodGet, "/callback?error=access_denied&state="+cookieState(t, cookie), nil)
	r.AddCookie(cookie)
	w = httptest.NewRecorder()
	if d.callback(w, r); w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	d.connected <- struct{}{} // by a stranger whose attempt did not fail
	s := &story{connector: d, out: &transcript{out: whenAsked(func() { d.connected <- struct{}{} })}, o: options{browser: true}}
	if err := s.ask(t.Context()); err != nil || len(d.connected) != 0 {
		t.Error(err, len(d.connected))
	}
}

// whenAsked is what a person does who reads that they are asked.
type whenAsked func()

func (w whenAsked) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
