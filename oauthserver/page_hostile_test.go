package oauthserver_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// AZ-14: every page has the security headers and the cookie.
func TestPageHeaders_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	d := e.device(t, app)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	consent := b.ask(app).wantOK()
	deviceConsent := b.enter(d.UserCode).wantOK()
	nonces := map[string]bool{}
	for name, p := range map[string]shownPage{
		"consent": consent, "refusal": b.ask(app, withoutParams("scope")), "redirect": b.submit(consent, "deny"),
		"device form": b.get("/device"), "wrong code": b.enter("x"), "device consent": deviceConsent, "done": b.submit(deviceConsent, "deny"),
		"not found": b.get("/nothing"),
	} {
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if got := p.Header.Get(header); got != want {
				t.Errorf("%s: %s %q, want %q", name, header, got, want)
			}
		}
		formAction := "'self'"
		if name == "consent" {
			formAction = "'self' https:"
		}
		policy := regexp.MustCompile(`^default-src 'none'; style-src 'nonce-([A-Z2-7]{26})'; img-src 'self'; font-src 'self'; form-action ` + formAction + `; frame-ancestors 'none'; base-uri 'none'$`).
			FindStringSubmatch(p.Header.Get("Content-Security-Policy"))
		if policy == nil || name != "redirect" && !strings.Contains(p.Body, `<style nonce="`+policy[1]+`">`) {
			t.Errorf("%s: policy %q", name, p.Header.Get("Content-Security-Policy"))
			continue
		}
		if nonces[policy[1]] {
			t.Errorf("%s: the nonce comes twice", name)
		}
		nonces[policy[1]] = true
	}
}

// AZ-14: Chromium applies form-action to the redirects after a form post.
func TestFormAction_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	for redirect, want := range map[string]string{
		"https://p.example/cb":    "form-action 'self' https:;",
		"http://127.0.0.1:9/cb":   "form-action 'self' http: https:;",
		"http://[::1]:9/cb":       "form-action 'self' http: https:;",
		"com.Example.app:/cb":     "form-action 'self' com.example.app:;",
		"https://x;script-src/cb": "form-action 'self' https:;",
	} {
		app := e.app(t, public, registered(redirect))
		p := e.browser(t).signIn("usr_owner", "biz_bakery").ask(app).wantOK()
		if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) || strings.Contains(policy, "script-src") {
			t.Errorf("%s: policy %q", redirect, policy)
		}
	}
}

// AZ-14: the cookie that binds a request to its browser.
func TestBrowserCookie_AZ14(t *testing.T) {
	t.Parallel()
	for appURL, want := range map[string]http.Cookie{
		pageApp:                  {Name: "__Host-partnerkit_browser", Secure: true},
		"http://localhost:8081":  {Name: "partnerkit_browser"},
		"http://127.0.0.1:49152": {Name: "partnerkit_browser"},
	} {
		e := newPageEnv(t, func(c *oauthserver.Config) { c.AppURL = appURL })
		p := e.browser(t).ask(e.app(t))
		set, err := http.ParseSetCookie(p.Header.Get("Set-Cookie"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := secret.Parse(secret.Browser, set.Value); err != nil || set.Name != want.Name || set.Secure != want.Secure ||
			!set.HttpOnly || set.SameSite != http.SameSiteLaxMode || set.Path != "/" || set.Domain != "" || set.MaxAge != 0 {
			t.Errorf("%s: cookie %s", appURL, p.Header.Get("Set-Cookie"))
		}
	}
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t)
	b.ask(app)
	if again := b.ask(app); again.Header.Get("Set-Cookie") != "" {
		t.Error("a browser that is known gets another cookie")
	}
}

// No external value becomes markup.
func TestPagesEscape(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script>`
	e := newPageEnv(t)
	app := e.app(t, func(a *partner.App) { a.Name = evil })
	e.host.AddBusiness("usr_owner", oauthserver.Business{ID: "biz_bakery", Name: evil, MayConnect: true})
	d := e.device(t, app)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	deviceConsent := b.enter(d.UserCode).wantOK()
	for name, p := range map[string]shownPage{
		"app and business": b.ask(app), "state": b.ask(app, withParam("state", evil)), "scope": b.ask(app, withParam("scope", evil)),
		"redirect": b.ask(app, withParam("redirect_uri", evil)), "client": b.ask(app, withParam("client_id", evil)),
		"response type": b.ask(app, withParam("response_type", evil)), "repeated": b.ask(app, withParam(evil, "1", "2")),
		"resource": b.ask(app, withParam("resource", evil)), "request": b.get("/oauth/authorize?request_id=" + url.QueryEscape(evil)),
		"user code": b.get("/device?user_code=" + url.QueryEscape(evil)), "typed": b.enter(evil), "device": deviceConsent,
		"done": b.submit(deviceConsent, "allow"), "path": b.get("/" + url.PathEscape(evil)), "field": b.post("/device", url.Values{evil: {"1", "2"}}),
	} {
		if p.Status >= 500 || strings.Contains(p.Body, "<script") || strings.Contains(p.Body, `"><`+"script") {
			t.Errorf("%s: %d\n%s", name, p.Status, p.main())
		}
	}
}

// Every hostile query gets a page.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	base := askQuery(app).Encode()
	for query, want := range map[string]string{
		"client_id=%zz": "Invalid client_id",
		"client_id=" + app.ClientID + "&redirect_uri=%": notRegistered,
		base + "&%zz=1": "invalid_request: query has a parameter whose name is not valid percent-encoded UTF-8",
		strings.Replace(base, "scope=", "scope=%zz", 1): "invalid_request: scope is not valid percent-encoded UTF-8",
		strings.Replace(base, "state=", "state=%z", 1):  "invalid_request: state is not valid percent-encoding",
		strings.Replace(base, "S256", "S256%ff", 1):     "invalid_request: code_challenge_method is not valid percent-encoded UTF-8",
		base + "&resource=%zz":                          "invalid_target",
		strings.Repeat("a&", 101):                       "Invalid client_id",
		"client_id=nope&%zz=1":                          "Invalid client_id",
		base + strings.Repeat("&a", 101):                "invalid_request: query has too many parameters",
		"&&&":                                           "Invalid client_id",
		"":                                              "Invalid client_id",
		"client_id":                                     "Invalid client_id",
		"=":                                             "Invalid client_id",
		strings.Replace(base, "client_id=", "Client_ID=", 1):               "Invalid client_id",
		strings.Replace(base, "client_id="+app.ClientID, "client_id=+", 1): "Invalid client_id",
		base + "&state": "invalid_request: state was sent more than once",
		strings.Replace(base, "redirect_uri=", "redirect_uri=%20", 1):         notRegistered,
		strings.Replace(base, "response_type=code", "response_type=code;", 1): "invalid_request: response_type must be code",
	} {
		e.browser(t).get("/oauth/authorize?"+query).wantRefusal(400, want)
	}
}

// A semicolon separates nothing.
func TestSemicolons(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	query := askQuery(app, withoutParams("state")).Encode() + "&state=a;scope=journal:read"
	p := b.submit(b.get("/oauth/authorize?"+query).wantOK(), "deny")
	if want := pageCallback + "?error=access_denied&state=a;scope=journal:read"; p.location != want {
		t.Errorf("to %q, want %q", p.location, want)
	}
}

// Methods and paths that there are not are pages too; HEAD is GET without a body.
func TestPageMethods(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	request := func(method, path string) shownPage {
		r, err := http.NewRequest(method, pageApp+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b.do(r)
	}
	for _, path := range []string{"/oauth/authorize", "/device"} {
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
			p := request(method, path)
			p.wantRefusal(http.StatusMethodNotAllowed, "this path takes GET, HEAD, POST")
			if p.Header.Get("Allow") != "GET, HEAD, POST" {
				t.Errorf("Allow %q", p.Header.Get("Allow"))
			}
		}
	}
	request("GET", "/oauth/other").wantRefusal(404, "no such endpoint")
	if p := request("HEAD", "/device"); p.Status != 200 {
		t.Errorf("HEAD: %d", p.Status)
	}
	if p := request("HEAD", "/oauth/authorize?"+askQuery(e.app(t)).Encode()); p.Status != 200 {
		t.Errorf("HEAD: %d", p.Status)
	}
}

// Bodies that are not forms are rejected.
func TestPageForms(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, test := range []struct{ contentType, body string }{
		{"application/json", "{}"},
		{"application/x-www-form-urlencoded", "user_code=%zz"},
		{"application/x-www-form-urlencoded", "user_code=%ff"},
		{"application/x-www-form-urlencoded", "user_code=" + strings.Repeat("x", 65<<10)},
		{"multipart/form-data; boundary=x", "--x--"},
		{"application/x-www-form-urlencoded", strings.Repeat("a=b&", 200)},
	} {
		for _, path := range []string{"/device", "/oauth/authorize"} {
			r, err := http.NewRequest(http.MethodPost, pageApp+path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", test.contentType)
			if p := b.do(r); p.Status != http.StatusBadRequest || !strings.Contains(p.Body, `role="alert" id="alert">invalid_request: `) {
				t.Errorf("%s with %.20q: %d %s", test.contentType, test.body, p.Status, p.Body)
			}
		}
	}
}

// OLIM-03: 600 pages a minute for one address, then 429 with Retry-After.
func TestPageLimit_OLIM03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t)
	refused := func() (n int) {
		for range 601 {
			p := b.get("/oauth/authorize")
			if p.Status == http.StatusTooManyRequests {
				n++
				if after := p.Header.Get("Retry-After"); after == "" || !strings.Contains(p.Body, "too many requests, retry after "+after+" seconds") {
					t.Errorf("Retry-After %q with %s", after, p.main())
				}
			}
		}
		return n
	}
	if n := refused(); n != 1 {
		t.Errorf("%d of 601 refused, want 1", n)
	}
	if p := b.get("/device"); p.Status != 429 {
		t.Errorf("another page: %d", p.Status)
	}
	b.header.Set("X-Forwarded-For", "203.0.113.9") // not from a trusted proxy
	if p := b.get("/device"); p.Status != 429 {
		t.Errorf("with a spoofed address: %d", p.Status)
	}
	b.ip = "198.51.100.1"
	if p := b.get("/device"); p.Status == 429 {
		t.Error("another address is refused")
	}
	b.ip = "192.0.2.1"
	e.clock.Advance(time.Minute)
	if p := b.get("/device"); p.Status == 429 {
		t.Error("refused a minute later")
	}
}

// AZ-06: a scope that has no plain words, or is internal, cannot be asked for, even
// if an app has it.
func TestScopesOutsideTheCatalog_AZ06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, func(a *partner.App) {
		a.Scopes = identity.MustScopes("invoices:read", "internal:admin", "gone:read")
	})
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, scope := range []string{"internal:admin", "gone:read", "invoices:read gone:read"} {
		b.ask(app, withParam("scope", scope)).wantRefusal(400, "Requested scopes not permitted for this client")
	}
	b.ask(app).wantOK()
}
