package oauthserver_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// AZ-05: spellings that made other servers send a code elsewhere, each with where it
// did. The option that reads loopback URIs is on, so that the parser is tried too.
func TestRedirectConfusion(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(c *oauthserver.Config) { c.LoopbackPorts = oauthserver.LoopbackPortsAll })
	app := e.app(t, public, registered(pageCallback, "https://partner.example/back", "http://127.0.0.1/cb", "http://[::1]/cb"))
	for _, test := range []struct{ source, uri string }{
		{"CVE-2020-15234", "HTTPS://partner.example/cb"},
		{"CVE-2020-15234", "https://partner.example/CB"},
		{"CVE-2020-15233", "http://127.0.0.1:8080/cb?next=evil"},
		{"CVE-2020-15233", "http://127.0.0.1:8080/other"},
		{"CVE-2020-15233", "http://127.0.0.2:8080/cb"},
		{"CVE-2024-8883", "http://localhost:8080/cb"},
		{"CVE-2024-8883", "http://127.0.0.1.evil.example/cb"},
		{"CVE-2024-8883", "http://127.0.0.1:8080#@evil.example/cb"},
		{"CVE-2026-3872", "https://partner.example/cb/..;/evil"},
		{"CVE-2026-3872", "http://127.0.0.1:8080/cb/..;/evil"},
		{"CVE-2026-3872", "https://partner.example/x/../cb"},
		{"CVE-2026-7504", "https://partner.example@evil.example/cb"},
		{"CVE-2026-7504", "https://partner.example@@evil.example/cb"},
		{"CVE-2026-7504", "http://127.0.0.1@evil.example/cb"},
		{"CVE-2026-7504", "http://x@127.0.0.1:8080/cb"},
		{"CVE-2026-7504", `http://evil.example\@127.0.0.1/cb`},
		{"CVE-2022-3782", "https://partner.example/cb%252f..%252fevil"},
		{"CVE-2022-3782", "https://partner.example/%63b"},
		{"CVE-2022-3782", "http://127.0.0.1:8080/%63b"},
		{"CVE-2024-52289", "https://partnerXexample/cb"},
		{"CVE-2022-36087", "http://[:8080/cb"},
		{"CVE-2022-36087", "http://[::1:8080/cb"},
		{"CVE-2022-36087", "http://[" + strings.Repeat(":", 400) + "]/cb"},
		{"CVE-2025-47912", "http://[127.0.0.1]:8080/cb"},
		{"CVE-2025-47912", "https://[partner.example]/cb"},
		{"CVE-2026-25679", "http://evil.example[::1]:8080/cb"},
		{"CVE-2026-25679", "http://[::1]evil.example/cb"},
		{"gitea#37706", "https://partner.example/bac\u212a"},
		{"go-oauth2 4.5.4", "https://evilpartner.example/cb"},
		{"go-oauth2 4.5.4", "https://x.partner.example/cb"},
		{"workers-oauth-provider#97", "JavaScript:alert(1)//partner.example/cb"},
		{"workers-oauth-provider#97", "\tjavascript:alert(1)"},
		{"workers-oauth-provider#97", " https://partner.example/cb"},
	} {
		t.Run(test.source+" "+test.uri, func(t *testing.T) {
			t.Parallel()
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			b.ask(app, withParam("redirect_uri", test.uri)).wantRefusal(400, notRegistered)
		})
	}
	for _, uri := range []string{pageCallback, "http://127.0.0.1:49152/cb", "http://[::1]:49152/cb"} { // the rule is not merely closed
		e.browser(t).signIn("usr_owner", "biz_bakery").ask(app, withParam("redirect_uri", uri)).wantOK()
	}
}
