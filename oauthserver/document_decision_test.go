package oauthserver_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
)

const toolCallback = "https://tool.example/callback"

// askAsTool opens the consent page of a document's app.
func (b *pageBrowser) askAsTool(site *docSite) shownPage {
	b.t.Helper()
	return b.get("/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {site.URL}, "redirect_uri": {toolCallback}, "scope": {"invoices:read customers:read"},
		"code_challenge": {pageChallenge}, "code_challenge_method": {"S256"},
	}.Encode())
}

// newTool is an app with a metadata document, reviewed, and the site of the document.
func newTool(t testing.TB) (*pageEnv, *docSite, partner.App) {
	t.Helper()
	e, site := newPageEnv(t, onLoopback), newDocSite(t)
	e.browser(t).signIn("usr_owner", "biz_bakery").askAsTool(site)
	app, err := fixture.AppByClientID(t.Context(), e, site.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.server.SetReviewed(t.Context(), app.ID, true); err != nil {
		t.Fatal(err)
	}
	return e, site, app
}

// CIMD-02: at the decision the document is as fresh as at the request, or is fetched again,
// and what it says then counts. When it cannot be had, nothing is granted.
func TestDocumentAtTheDecision_CIMD02(t *testing.T) {
	t.Parallel()
	const (
		client   = "Invalid client_id"
		redirect = "redirect_uri does not match any registered URI"
		scopes   = "Requested scopes not permitted for this client"
	)
	for name, test := range map[string]struct {
		change  func(*docSite)
		after   time.Duration
		fetches int32
		refusal string // of a code
		device  string // of a device, which has no redirect URI
	}{
		"CIMD-02 fresh":                   {func(s *docSite) { s.fail(http.StatusNotFound) }, 29 * time.Second, 0, "", ""},
		"CIMD-02 stale, and the same":     {func(*docSite) {}, 30 * time.Second, 1, "", ""},
		"CIMD-02 stale, and out of reach": {func(s *docSite) { s.fail(http.StatusBadGateway) }, 30 * time.Second, 1, client, client},
		"CIMD-02 stale, and gone":         {func(s *docSite) { s.fail(http.StatusNotFound) }, 30 * time.Second, 1, client, client},
		"CIMD-02 stale, other redirects": {func(s *docSite) {
			s.serve(withMembers(goodDocument(s.URL), map[string]any{"redirect_uris": []string{"https://tool.example/other"}}), nil)
		}, 30 * time.Second, 1, redirect, ""},
		"CIMD-02 stale, fewer scopes": {func(s *docSite) {
			s.serve(withMembers(goodDocument(s.URL), map[string]any{"scope": "invoices:read"}), nil)
		}, 30 * time.Second, 1, scopes, scopes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, site, _ := newTool(t)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.askAsTool(site).wantOK()
			hits := site.hits.Load()
			test.change(site)
			e.clock.Advance(test.after)
			got := b.submit(p, "allow", withParam("business_id", "biz_bakery"))
			if n := site.hits.Load() - hits; n != test.fetches {
				t.Errorf("%d fetches, want %d", n, test.fetches)
			}
			if test.refusal == "" {
				got.wantCallback(toolCallback)
				return
			}
			got.wantRefusal(http.StatusBadRequest, test.refusal)
			e.wantNothingGranted(t)
		})
		t.Run(name+", on a device", func(t *testing.T) {
			t.Parallel()
			e, site, app := newTool(t)
			app.Scopes = identity.MustScopes("invoices:read", "customers:read")
			d := e.device(t, app)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.enter(d.UserCode).wantOK()
			hits := site.hits.Load()
			test.change(site)
			e.clock.Advance(test.after)
			got := b.submit(p, "allow")
			if n := site.hits.Load() - hits; n != test.fetches {
				t.Errorf("%d fetches, want %d", n, test.fetches)
			}
			if test.device == "" {
				got.wantOK()
				return
			}
			got.wantRefusal(http.StatusBadRequest, test.device)
			e.wantNothingGranted(t)
		})
	}
}
