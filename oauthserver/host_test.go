package oauthserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// Hosts that RFC 3986 allows, or that parsers let pass, and that would end a directive of a
// Content-Security-Policy or begin another one.
var oddHosts = []string{
	"a;script-src.example", "a,b.example", "a'self'.example", "a!b.example", "a$b.example", "a&b.example", "a(b).example",
	"a+b.example", "a=b.example", "a~b.example", "a%C3%A4.example", "a;b.example:8443", "[fe80::1%25en0]", "[::1;x]",
}

// CON-05: the host of a URL that may stand in a header has host characters only.
func TestHostCharacters_CON05(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, openRegistration)
	for _, host := range oddHosts {
		uri := "https://" + host + "/cb"
		if problem := (oauthserver.RedirectRules{AllowQuery: true}).Problem(uri); problem == "" {
			t.Errorf("%s may be registered", uri)
		}
		if origin, ok := oauthserver.WebOrigin(uri); ok || origin != "" {
			t.Errorf("%s has the origin %q", uri, origin)
		}
		k.register(`{"client_name":"A","redirect_uris":["`+uri+`"]}`).refused(http.StatusBadRequest, "invalid_redirect_uri", "*")
		k.register(`{"client_name":"A","redirect_uris":["`+apiRedirect+`"],"logo_uri":"`+uri+`"}`).refused(http.StatusBadRequest, "invalid_client_metadata", "*")
		body, err := json.Marshal(withMembers(goodDocument(toolURL), map[string]any{"logo_uri": uri, "client_uri": "https://tool.example/"}))
		mustDo(t, err)
		app, err := oauthserver.ParseDocument(toolURL, body, identity.DefaultScopes())
		if err != nil || app.Metadata != `{"client_uri":"https://tool.example/"}` {
			t.Errorf("a document keeps %s: %v", app.Metadata, err)
		}
	}
	for uri, origin := range map[string]string{
		"https://a_b.example/cb?c": "https://a_b.example", "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example",
		"https://[2001:DB8::1]:8443/": "https://[2001:db8::1]:8443", "https://192.0.2.1:443/": "https://192.0.2.1", "http://LOCALHOST:80/": "http://localhost",
	} {
		if problem := (oauthserver.RedirectRules{AllowQuery: true}).Problem(uri); problem != "" {
			t.Errorf("%s %v", uri, problem)
		}
		if got, ok := oauthserver.WebOrigin(uri); got != origin || !ok {
			t.Errorf("%s has the origin %q, want %q", uri, got, origin)
		}
	}
	for _, uri := range []string{"", "/cb", "javascript:alert(1)", "https:", "https:///cb", "https://me@a.example/", "https://a.example:0/", "com.example.app:/cb"} {
		if origin, ok := oauthserver.WebOrigin(uri); ok {
			t.Errorf("%q has the origin %q", uri, origin)
		}
	}
}

// CON-05: no registered value adds a directive to the policy of the consent page.
func TestPolicyOfConsent_CON05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, host := range oddHosts {
		// Saved before hosts were checked.
		app := e.app(t, func(a *partner.App) { a.RedirectURIs = []string{"https://" + host + "/cb"} })
		policy := b.ask(app).Header.Get("Content-Security-Policy")
		if strings.Count(policy, ";") != 6 || strings.ContainsAny(policy, ",!") || strings.Contains(policy, "example") {
			t.Errorf("%s: %s", host, policy)
		}
	}
}
