package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/internal/samples"
	"github.com/partnerkit/partnerkit/partner"
)

// blocks are the texts of a page that are copied as a whole.
func (a response) blocks() []string {
	var all []string
	for _, found := range regexp.MustCompile(`(?s)<pre tabindex="0">(.*?)</pre>`).FindAllStringSubmatch(a.Body[max(0, strings.Index(a.Body, `id="quick-start"`)):], -1) {
		all = append(all, html.UnescapeString(found[1]))
	}
	return all
}

func withReads(cfg *pages.Config) {
	cfg.Reads = []pages.Read{{Path: "/customers", Scope: "customers:read"}, {Path: "/invoices", Scope: "invoices:read"}, {Path: "/events", Scope: "events:read"}}
}

// The quick start has the app's own ids and the hosts' addresses, and is open until a business
// connects.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	o := newHarness(t, withReads)
	created, err := o.console.CreateApp(t.Context(), o.actor(ann), console.NewApp{
		Name: "Sync", Type: partner.Confidential, RedirectURIs: []string{"https://partner.example/cb?a=$(id)&b='", "https://partner.example/other"}, Scopes: []string{"invoices:read", "events:read"},
	})
	o.must(err)
	app, path := created.App, "/apps/"+created.App.ID+"/start"
	page := o.get(path).want(http.StatusOK).shows("Quick start", "PKCE", app.RedirectURIs[0], "sandbox business", "set CODE and CLIENT_SECRET").lacks(created.Secret)
	blocks := page.blocks()
	if len(blocks) != 6 {
		t.Fatalf("the page has %d blocks: %q", len(blocks), blocks)
	}
	for i, want := range []string{
		`echo "` + appOrigin + `/oauth/authorize?response_type=code&client_id=` + app.ClientID + "&redirect_uri=" + url.QueryEscape(app.RedirectURIs[0]) + "&scope=invoices%3Aread+events%3Aread&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256\"",
		"curl -s https://api.example.com/oauth/token -u " + app.ClientID + `:"$CLIENT_SECRET"`,
		`curl -s -H "Authorization: Bearer $ACCESS_TOKEN" https://api.example.com/invoices`,
		samples.Go, samples.Node, samples.Python,
	} {
		if !strings.Contains(blocks[i], want) {
			t.Errorf("block %d is\n%s\nwant\n%s", i+1, blocks[i], want)
		}
	}
	for _, command := range blocks[:3] {
		if strings.Contains(command, "$(id)") {
			t.Errorf("the redirect URI is not escaped for the shell: %s", command)
		}
	}
	const opened = `id="quick-start" open>`
	if !strings.Contains(page.Body, opened) {
		t.Error("it is collapsed although no business has connected the app")
	}
	o.connect(app, "biz_1")
	o.get(path).want(http.StatusOK).shows("Quick start").lacks(opened)
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))
	o.get(path).want(http.StatusOK).lacks("oauth/token", "Get a sandbox token")
}

func TestQuickStartKinds(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	public := o.newApp(func(n *console.NewApp) { n.Type = partner.Public })
	page := o.get("/apps/"+public.ID+"/start").want(http.StatusOK).shows("-d client_id="+public.ClientID, "set CODE, and").lacks("CLIENT_SECRET", "Call the API")
	if n := len(page.blocks()); n != 5 {
		t.Errorf("without routes there are %d blocks", n)
	}

	o = newHarness(t, withReads)
	keyed := o.newApp()
	_, err := o.store.Tap.Exec(t.Context(), "DELETE FROM partnerkit_client_secret")
	o.must(err)
	o.get("/apps/"+keyed.ID+"/start").want(http.StatusOK).shows("-d client_id="+keyed.ClientID, `-d client_assertion="$CLIENT_ASSERTION"`, "set CODE and CLIENT_ASSERTION").lacks("CLIENT_SECRET")

	for _, statement := range []string{"UPDATE partnerkit_app SET redirect_uris = '[]'", "UPDATE partnerkit_app SET scopes = ''"} {
		bare := newHarness(t, withReads)
		app := bare.newApp()
		_, err := bare.store.Tap.Exec(t.Context(), statement)
		bare.must(err)
		bare.get("/apps/"+app.ID+"/start").want(http.StatusOK).shows("once the app has a redirect URI and scopes", "Verify webhooks").lacks("oauth/token")
	}
}
