package oauthserver_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/theme"
)

// switchLink is the address of the link to another account; empty if the page has none.
func switchLink(t *testing.T, p shownPage) *url.URL {
	t.Helper()
	found := regexp.MustCompile(`<a href="([^"]+)">Use another account</a>`).FindStringSubmatch(p.Body)
	if found == nil {
		return &url.URL{}
	}
	u, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// AZ-01, AZ-14: a person can sign in with another account and returns to the same request,
// which the other account then decides. A host without such a page gets no link.
func TestAnotherAccount_AZ01(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.Theme = theme.Theme{SwitchAccount: "/login?prompt=1"} })
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	if link := switchLink(t, b.ask(app).wantOK()); link.Path != "/login" {
		t.Errorf("the consent page links to %s", link)
	}
	b.signIn("usr_guest", "biz_guest")
	refused := b.ask(app, withParam("state", "s1"))
	refused.wantRefusal(403, notPermitted)
	link := switchLink(t, refused)
	if link.Path != "/login" || link.Host != "" || link.Query().Get("prompt") != "1" {
		t.Fatalf("link to %s", link)
	}
	returnTo := link.Query().Get("return_to")
	if !strings.HasPrefix(returnTo, "/oauth/authorize?request_id=") {
		t.Fatalf("return_to %q", returnTo)
	}
	b.signIn("usr_owner", "biz_bikes")
	if response := b.submit(b.get(returnTo).wantOK(), "allow").wantCallback(pageCallback); response.Get("state") != "s1" {
		t.Errorf("answer %v", response)
	}
	code := e.device(t, app).UserCode
	for _, page := range []string{"/device", "/device?user_code=" + code} {
		if got := switchLink(t, b.get(page).wantOK()).Query().Get("return_to"); got != page {
			t.Errorf("the link of %s returns to %q", page, got)
		}
	}
	if got := switchLink(t, b.enter(code).wantOK()).Query().Get("return_to"); got != "/device?user_code="+code {
		t.Errorf("the link of the device's consent page returns to %q", got)
	}

	without := newPageEnv(t)
	page := without.browser(t).signIn("usr_owner", "biz_bakery").ask(without.app(t)).wantOK()
	if link := switchLink(t, page); link.Path != "" {
		t.Errorf("link to %s without Theme.SwitchAccount", link)
	}
}

// AZ-11, AZ-12: the page gives the reason why one of the user's businesses cannot be chosen.
func TestMissingBusinesses_AZ11_AZ12(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	role, review := "your role in this business does not allow connecting apps", "this app has not been reviewed yet"
	for name, test := range map[string]struct {
		app  partner.App
		want map[string]string // by the businesses that are missing for one reason
	}{
		"reviewed":   {e.app(t), map[string]string{"Guest House": role}},
		"unreviewed": {e.app(t, unreviewed), map[string]string{"Guest House": role, "Corner Bakery, Harbour Bikes, Foreign Sandbox": review}},
	} {
		page := b.ask(test.app).wantOK()
		_, missing, _ := strings.Cut(page.Body, "Is a business missing?")
		missing, _, _ = strings.Cut(missing, "</details>")
		for businesses, why := range test.want {
			if !strings.Contains(missing, "<strong>"+businesses+"</strong>: "+why) {
				t.Errorf("%s: the page lacks the reason why %s is missing:\n%s", name, businesses, missing)
			}
		}
	}
}

// DEV-05: a person who may not connect apps to the business of the session finds the way to
// another one, even if the host has a page of connected apps of its own.
func TestDeviceBusiness_DEV05(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/businesses?from=device": "/businesses?from=device&amp;return_to=%2Fdevice%3Fuser_code%3D", "": ""} {
		e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.ConnectedApps.Omit, cfg.BusinessPath = true, path })
		code := e.device(t, e.app(t)).UserCode
		refused := e.browser(t).signIn("usr_guest", "biz_guest").enter(code)
		refused.wantRefusal(403, notPermitted)
		for name, page := range map[string]shownPage{"refused": refused, "asked": e.browser(t).signIn("usr_owner", "biz_bakery").enter(code).wantOK()} {
			const link = "Choose another business</a>"
			if want == "" && strings.Contains(page.Body, link) || want != "" && !strings.Contains(page.Body, want+code+`">`+link) {
				t.Errorf("%s, %q: %s", name, path, page.Body)
			}
		}
	}
}

// AZ-03, AZ-15: a page that refuses names the app as soon as it is known, keeps its text word
// for word and offers a way on.
func TestRefusalsNameTheApp_AZ03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.BusinessPath = "/businesses" })
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	const notConnected = "<h1>Ledger Sync was not connected</h1>"
	open := b.ask(app).wantOK()
	b.submit(open, "deny").wantCallback(pageCallback)
	again, code := b.ask(app).wantOK(), e.device(t, app).UserCode
	_, form := again.form()
	guest := e.browser(t).signIn("usr_guest", "biz_guest")
	for name, test := range map[string]struct {
		page   shownPage
		status int
		text   string
		want   []string
	}{
		"redirect": {b.ask(app, withParam("redirect_uri", "https://evil.example/")), 400, "redirect_uri does not match any registered URI", []string{notConnected}},
		"scope":    {b.ask(app, withParam("scope", "journal:read")), 400, "Requested scopes not permitted for this client", []string{notConnected}},
		"unknown":  {b.ask(app, withParam("client_id", "nobody")), 400, "Invalid client_id", []string{"<h1>This cannot be done</h1>"}},
		"used": {b.submit(open, "allow"), 400, "invalid_request: authorization request not found or expired",
			[]string{"<h1>The request from Ledger Sync is no longer valid</h1>"}},
		"used elsewhere": {guest.submit(open, "allow"), 400, "invalid_request: authorization request not found or expired", []string{"<h1>This cannot be done</h1>"}},
		"permission":     {guest.ask(app), 403, notPermitted, []string{notConnected, "<strong>Guest House</strong>: your role"}},
		"other session": {b.submit(again, "allow", withParam("csrf_token", "x")), 400,
			"invalid_request: csrf_token is not valid for this session; open the page again and decide there",
			[]string{notConnected, `<a class="button" href="/oauth/authorize?request_id=` + form.Get("request_id") + `">Try again</a>`}},
		"device permission": {guest.enter(code), 403, notPermitted,
			[]string{notConnected, `<a class="button" href="/businesses?return_to=%2Fdevice%3Fuser_code%3D` + code + `">Choose another business</a>`}},
	} {
		test.page.wantRefusal(test.status, test.text)
		for _, want := range test.want {
			if !strings.Contains(test.page.Body, want) {
				t.Errorf("%s: no %q on the page\n%s", name, want, test.page.Body[strings.Index(test.page.Body, "<main"):])
			}
		}
	}
}
