package oauthserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

// AZ-14: the decision's token belongs to this session, this browser and this
// request; any other is refused and nothing happens.
func TestCSRF_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p, other := b.ask(app).wantOK(), b.ask(app).wantOK()
	_, otherForm := other.form()
	_, ownForm := p.form()
	stranger := e.browser(t).signIn("usr_owner", "biz_bakery")
	_, strangerForm := stranger.ask(app).wantOK().form()

	b.submit(p, "allow", withoutParams("csrf_token")).wantRefusal(400, "invalid_request: csrf_token is missing")
	b.submit(p, "allow", withParam("csrf_token", "x")).wantRefusal(400, notThisSession)
	b.submit(p, "deny", withParam("csrf_token", strings.Repeat("A", 43))).wantRefusal(400, notThisSession)
	b.submit(p, "allow", withParam("csrf_token", otherForm.Get("csrf_token"))).wantRefusal(400, notThisSession)
	b.submit(p, "allow", withParam("csrf_token", strangerForm.Get("csrf_token"))).wantRefusal(400, notThisSession)
	b.submit(p, "allow", withParam("csrf_token", ownForm.Get("csrf_token")+"\r\n")).wantRefusal(400, notThisSession)
	b.submit(p, "maybe").wantRefusal(400, "invalid_request: decision must be allow or deny")
	b.submit(p, "allow", withParam("decision", "allow", "deny")).wantRefusal(400, "invalid_request: decision was sent more than once")
	b.submit(p, "allow", withParam("business_id", "biz_bakery", "biz_bikes")).wantRefusal(400, "invalid_request: business_id was sent more than once")

	b.signIn("usr_owner", "biz_bakery") // another session of the same person
	b.submit(p, "allow").wantRefusal(400, notThisSession)
	b.signIn("usr_guest", "biz_guest")
	b.submit(p, "allow").wantRefusal(400, notThisSession)
	e.wantNothingGranted(t)
}

// AZ-14: a key that is being rotated out still proves the pages it made.
func TestCSRFSurvivesKeyRotation_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(e.app(t)).wantOK()
	rotated, err := oauthserver.New(oauthserver.Config{
		Store: e.Store, Host: e.host, Keyring: fixture.Keyring(2, 1), Pages: pages.New(), APIURL: pageAPI, AppURL: pageApp, Clock: e.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.http = rotated.AppHandler()
	b.submit(p, "allow").wantCallback(pageCallback)
}

// A session that ended between page and decision leads to sign-in, and back.
func TestSessionEnded(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(e.app(t)).wantOK()
	e.host.EndSession(b.session)
	response := b.submit(p, "allow")
	login, err := url.Parse(response.location)
	if err != nil || login.Path != "/login" {
		t.Fatalf("%d to %q", response.Status, response.location)
	}
	e.wantNothingGranted(t)
	b.signIn("usr_owner", "biz_bakery")
	b.submit(b.get(login.Query().Get("return_to")).wantOK(), "allow").wantCallback(pageCallback)
}

// CON-07, AZ-14: forms of other sites are refused; ours pass, and so does what
// Chromium sends under no-referrer, and what no browser sent.
func TestOrigins_CON07(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	for name, test := range map[string]struct {
		origin, site string
		passes       bool
	}{
		"no browser":               {"", "", true},
		"own origin":               {pageApp, "", true},
		"the API host's":           {pageAPI, "same-site", true},
		"no-referrer in Chromium":  {"null", "same-origin", true},
		"typed in":                 {"", "none", true},
		"own origin, same-origin":  {pageApp, "same-origin", true},
		"another site":             {"https://evil.example", "cross-site", false},
		"another site, old":        {"https://evil.example", "", false},
		"opaque, cross-site":       {"null", "cross-site", false},
		"opaque, old":              {"null", "", false},
		"a sibling":                {"https://evil.example.com", "same-site", false},
		"our name as a subdomain":  {pageApp + ".evil.example", "cross-site", false},
		"our name over plain http": {"http://app.example.com:81", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.ask(app).wantOK()
			b.header.Set("Origin", test.origin)
			b.header.Set("Sec-Fetch-Site", test.site)
			response := b.submit(p, "deny")
			if test.passes {
				response.wantCallback(pageCallback)
			} else {
				response.wantRefusal(http.StatusForbidden, "This form was sent from another site")
			}
			b.ask(app).wantOK() // reading is not a write
		})
	}
}

// AZ-09, AZ-14: of N posts of one decision exactly one gets a code.
func TestConcurrentDecisions_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(app).wantOK()
	const contenders = 16
	responses := make([]shownPage, contenders)
	testdb.Race(contenders, func(i int) {
		decision := "allow"
		if i%4 == 3 {
			decision = "deny"
		}
		responses[i] = b.submit(p, decision)
	})
	decided := 0
	for _, response := range responses {
		if response.Status == http.StatusSeeOther {
			decided++
			continue
		}
		response.wantRefusal(400, notFoundOrExpired)
	}
	if codes := e.count(t, "code"); decided != 1 || codes > 1 {
		t.Errorf("%d decisions and %d codes of one request", decided, codes)
	}
	b.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
}
