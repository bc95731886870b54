package oauthserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// FuzzAuthorizeQuery checks that every query leads to a consent page, an error page or
// sign-in; never to a redirect to an app, never to an internal error. An accepted state is
// returned unchanged.
func FuzzAuthorizeQuery(f *testing.F) {
	e := newPageEnv(f, func(c *oauthserver.Config) { c.Limiter = noPageLimiter{} })
	app := e.app(f)
	base := askQuery(app, withoutParams("state")).Encode()
	for _, seed := range []string{"", "state=a+b%20c", "state=%00%ff", "scope=x", "client_id=a&client_id=b", ";;&&==", "resource=https%3A%2F%2Fapi.example.com", "state=%", "request_id=pk_req_"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	b := e.browser(f).signIn("usr_owner", "biz_bakery")
	f.Fuzz(func(t *testing.T, raw string, complete bool) {
		query := raw
		if complete {
			query = base + "&" + raw
		}
		b.t = t
		p := b.do(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: "app.example.com", Path: "/oauth/authorize", RawQuery: query}, Header: http.Header{}})
		switch {
		case p.Status == http.StatusBadRequest && strings.Contains(p.Body, `role="alert"`):
			return
		case p.Status != http.StatusOK:
			t.Fatalf("%d to %q", p.Status, p.location)
		}
		denied := b.submit(p, "deny")
		if denied.Status != http.StatusSeeOther || !strings.HasPrefix(denied.location, pageCallback+"?error=access_denied") {
			t.Fatalf("%d to %q", denied.Status, denied.location)
		}
		if strings.ContainsFunc(denied.location, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("location %q", denied.location)
		}
		sent, got := rawState(query), rawState(denied.location[strings.Index(denied.location, "?")+1:])
		if sent != got {
			t.Errorf("state %q came back as %q", sent, got)
		}
	})
}

// rawState finds the state of a query and decodes it, by other means than the
// server. Parameters that mean nothing may be malformed.
func rawState(query string) string {
	values, _ := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
	return values.Get("state")
}

// FuzzUserCode checks that every typed code leads to a form, never to an internal error and
// never to the decision about another code.
func FuzzUserCode(f *testing.F) {
	e := newPageEnv(f, func(c *oauthserver.Config) { c.Limiter = noPageLimiter{} })
	e.device(f, e.app(f))
	for _, seed := range []string{"", "BCDF-GHJK", "bcdf ghjk", "<script>", "\x00", "\xff", "BCDF\u2010GHJK", strings.Repeat("B", 100)} {
		f.Add(seed)
	}
	b := e.browser(f).signIn("usr_owner", "biz_bakery")
	f.Fuzz(func(t *testing.T, typed string) {
		b.t = t
		for _, p := range []shownPage{b.enter(typed), b.get("/device?user_code=" + url.QueryEscape(typed))} {
			if p.Status != http.StatusOK && p.Status != http.StatusBadRequest || p.location != "" || strings.Contains(p.Body, "<script") {
				t.Errorf("%d: %s", p.Status, p.main())
			}
		}
		r := httptest.NewRequest(http.MethodPost, "/device", strings.NewReader(typed))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		e.http.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("as a body: %d", w.Code)
		}
	})
}

// FuzzDecision: no form grants anything but the one of the page that was shown, however
// it is bent (AZ-14).
func FuzzDecision(f *testing.F) {
	e := newPageEnv(f, func(c *oauthserver.Config) { c.Limiter = noPageLimiter{} })
	app := e.app(f)
	b := e.browser(f).signIn("usr_owner", "biz_bakery")
	for _, seed := range []string{
		"", "decision=allow", "decision=allow&decision=deny", "decision=Allow&business_id=biz_bakery", "request_id=pk_req_" + strings.Repeat("a", 43) + "&decision=allow&business_id=biz_bakery",
		"csrf=%00&request_id=%ff&decision=allow", ";;&&==", "%", strings.Repeat("a=b&", 200), "decision=allow&business_id=biz_other",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		b.t = t
		shown := b.get("/oauth/authorize?" + askQuery(app).Encode())
		r, err := http.NewRequest(http.MethodPost, pageApp+"/oauth/authorize", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p := b.do(r); p.Status < 400 || p.Status >= 500 || p.location != "" || !strings.Contains(p.Body, `role="alert"`) {
			t.Fatalf("%q: %d to %q: %s", body, p.Status, p.location, p.main())
		}
		e.wantNothingGranted(t)
		if denied := b.submit(shown, "deny"); denied.Status != http.StatusSeeOther { // it lives on
			t.Fatalf("%q, and then a denial: %d", body, denied.Status)
		}
	})
}
