package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// service is a running reference server.
type service struct {
	t        *testing.T
	API, App string // public URLs
	partner  *partnerSite
}

// serve starts a server with the data of testdata, whose apps live at a partner. Names
// are pairs of an old and a new name: each new name replaces the old one in the data.
func serve(t *testing.T, names ...string) *service {
	t.Helper()
	return serveWith(t, nil, names...)
}

// serveWith is serve with more flags.
func serveWith(t *testing.T, flags []string, names ...string) *service {
	t.Helper()
	_, err := chromiumPath()
	lacking(t, "needs Chromium: install chromium-headless-shell or chromium", err)
	p := newPartner(t)
	text, err := os.ReadFile(filepath.Join("testdata", "fixtures.json"))
	if err != nil {
		t.Fatal(err)
	}
	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	text = bytes.ReplaceAll(text, []byte("PARTNER"), []byte(p.origin))
	for pair := range slices.Chunk(names, 2) {
		old, err := json.Marshal(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		name, err := json.Marshal(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, old, name)
	}
	if err := os.WriteFile(fixtures, text, 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := servertest.Launch(append([]string{"-fixtures", fixtures, "-db", filepath.Join(t.TempDir(), "partnerkit.db")}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if text := process.Log(); t.Failed() || strings.Contains(text, "level=ERROR") {
			t.Errorf("the server said:\n%s", text)
		}
	})
	return &service{t: t, API: process.API, App: process.App, partner: p}
}

// dev makes a request to /dev of the API host.
func (s *service) dev(path string, in, out any) {
	s.t.Helper()
	s.call(request{method: "POST", path: "/dev" + path, body: in}, out)
}

// enter signs a user in without the login page.
func (s *service) enter(b *tab, user, business string) *tab {
	s.t.Helper()
	name, value, _ := strings.Cut(s.session(user, business), "=")
	cookie := network.SetCookieParams{Name: name, Value: value, URL: s.App, SameSite: network.CookieSameSiteLax}
	if _, err := chromedp.Call(b.ctx, network.SetCookie, cookie); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// session returns the cookie of a signed-in user.
func (s *service) session(user, business string) string {
	s.t.Helper()
	var out struct{ Cookie string }
	s.dev("/sessions", map[string]string{"userId": user, "businessId": business}, &out)
	return out.Cookie
}

// request is a request to the API host with a token, a cookie or a client secret.
type request struct {
	method, path  string
	token, cookie string
	body          any        // JSON
	form          url.Values // instead of body
}

// call makes a request and expects a 2xx response.
func (s *service) call(r request, out any) {
	s.t.Helper()
	if status, response := s.send(r); status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", r.method, r.path, status, response)
	} else if out != nil {
		if err := json.Unmarshal(response, out); err != nil {
			s.t.Fatal(err)
		}
	}
}

// send makes a request and returns the response of the API host.
func (s *service) send(r request) (status int, response []byte) {
	s.t.Helper()
	var body io.Reader
	contentType := "application/json"
	switch {
	case r.form != nil:
		body, contentType = strings.NewReader(r.form.Encode()), "application/x-www-form-urlencoded"
	case r.body != nil:
		text, err := json.Marshal(r.body)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, r.method, s.API+r.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		q.Header.Set("Content-Type", contentType)
	}
	if r.token != "" {
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.cookie != "" {
		q.Header.Set("Cookie", r.cookie)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	if response, err = io.ReadAll(a.Body); err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, response
}

// eventually repeats a check until it succeeds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
