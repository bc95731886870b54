package oauthserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// CIMD-04: what an entry trusts, to the letter.
func TestTrustDocuments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entry, url string
		want       bool
	}{
		{"agent.example", "https://agent.example/client.json", true},
		{"agent.example", "https://AGENT.example:443/any/where?x=y", true},
		{"Agent.Example", "https://agent.example/client.json", true},
		{"agent.example", "https://agent.example:8443/client.json", false},
		{"agent.example", "https://agent.example./client.json", false},
		{"agent.example", "https://agent.example@evil.example/client.json", false},
		{"agent.example", "https://agent.example:x@evil.example/client.json", false},
		{"agent.example", "https://sub.agent.example/client.json", false},
		{"agent.example", "https://evilagent.example/client.json", false},
		{"agent.example", "https://agent.example.evil.example/client.json", false},
		{"agent.example:8443", "https://agent.example:8443/client.json", true},
		{"agent.example:8443", "https://agent.example/client.json", false},
		{"127.0.0.1:3000", "http://127.0.0.1:3000/client.json", true},
		{"https://a.example/x", "https://a.example/x", true},
		{"https://a.example/x", "https://a.example/x/client.json", true},
		{"https://a.example/x", "https://a.example/x?v=1", true},
		{"https://a.example/x", "https://a.example/xevil", false},
		{"https://a.example/x", "https://a.example/x.json", false},
		{"https://a.example/x", "https://a.example/x%2fevil", false},
		{"https://a.example/x", "https://a.example/x/../evil", false},
		{"https://a.example/x", "https://a.example/x/%2e%2e/evil", false},
		{"https://a.example/x", "https://a.example/X", false},
		{"https://a.example/x", "https://a.example.evil.example/x", false},
		{"https://a.example/x", "http://a.example/x", false},
		{"https://a.example/x/", "https://a.example/x/client.json", true},
		{"https://a.example/x/", "https://a.example/x", false},
		{"https://a.example", "https://a.example/client.json", true},
		{"https://a.example/", "https://a.example/client.json", true},
		{"HTTPS://A.example:443/x", "https://a.example/x/client.json", true},
		{"a.example:443", "https://a.example/client.json", true},
		{"[2001:DB8::1]", "https://[2001:db8:0::1]/client.json", true},
		{"https://a.example", "https://a.example.evil.example/client.json", false},
	} {
		t.Run("CIMD-04 "+test.entry+" "+test.url, func(t *testing.T) {
			t.Parallel()
			policy, err := oauthserver.TrustDocuments("other.example", test.entry)
			mustDo(t, err)
			trust, err := policy(t.Context(), test.url)
			if err != nil || (trust.Review == oauthserver.DocumentReviewed) != test.want || trust.Review == oauthserver.DocumentRefused {
				t.Errorf("%+v, %v", trust, err)
			}
		})
	}
	for _, entry := range []string{
		"", "agent.example.", "user@agent.example", "*.agent.example", "agent.example/x", "http://agent.example", "ftp://agent.example", "https://",
		"https://user@agent.example/", "https://agent.example/?x", "https://agent.example/#x", "https://agent.example/a/../b", "agent.example:0", "agent example",
	} {
		if _, err := oauthserver.TrustDocuments(entry); err == nil || !strings.Contains(err.Error(), entry) {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

// CIMD-04: the spellings of one entry are one name.
func TestNormalizeTrust_CIMD04(t *testing.T) {
	t.Parallel()
	for want, entries := range map[string][]string{
		"agent.example": {
			"agent.example", "Agent.Example", "agent.example:443", "agent.example:", "https://agent.example", "https://agent.example/",
			"https://agent.example:443", "https://AGENT.example:443/", "HTTPS://agent.example",
		},
		"agent.example:8443":             {"agent.example:8443", "https://agent.example:8443", "https://Agent.example:8443/"},
		"https://agent.example/Clients":  {"https://agent.example/Clients", "https://AGENT.example:443/Clients"},
		"https://agent.example/Clients/": {"https://agent.example/Clients/"}, // not what has no slash at its end
		"http://127.0.0.1:3000":          {"http://127.0.0.1:3000", "http://127.0.0.1:3000/"},
		"[::1]:3000":                     {"[::1]:3000", "https://[::1]:3000/", "[0:0::1]:3000", "https://[::0001]:3000"},
	} {
		for _, entry := range append(entries, want) {
			if got, err := oauthserver.NormalizeTrust(entry); err != nil || got != want {
				t.Errorf("%s: %s, %v; want %s", entry, got, err, want)
			}
		}
	}
	if got, err := oauthserver.NormalizeTrust("*.agent.example"); err == nil || got != "" {
		t.Errorf("%q", got)
	}
}

// trusting sets a policy that returns always the same.
func trusting(trust oauthserver.DocumentTrust, err error) func(*oauthserver.Config) {
	return func(c *oauthserver.Config) {
		c.Documents.Policy = func(context.Context, string) (oauthserver.DocumentTrust, error) { return trust, err }
	}
}

// CIMD-04: the policy decides where the app of a document can be connected.
func TestDocumentPolicy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trust    oauthserver.DocumentTrust
		err      error
		business string
		status   int // of a refusal
		refusal  string
	}{
		"CIMD-04 sandbox only": {business: "biz_bakery", status: http.StatusForbidden, refusal: "This app has not completed review and can only connect to its own sandbox businesses"},
		"CIMD-04 reviewed":     {trust: oauthserver.DocumentTrust{Review: oauthserver.DocumentReviewed}, business: "biz_bakery"},
		"CIMD-04 organization": {trust: oauthserver.DocumentTrust{OrganizationID: "org_dev"}, business: "biz_sandbox"},
		"CIMD-04 refused":      {trust: oauthserver.DocumentTrust{Review: oauthserver.DocumentRefused}, status: http.StatusBadRequest, refusal: "Invalid client_id"},
		"CIMD-04 error":        {err: errors.New("the list cannot be read"), status: http.StatusInternalServerError},
		"CIMD-04 unknown word": {trust: oauthserver.DocumentTrust{Review: "perhaps"}, status: http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, site := newPageEnv(t, onLoopback, trusting(test.trust, test.err)), newDocSite(t)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.askAsTool(site)
			if test.status == 0 {
				b.submit(p.wantOK(), "allow", withParam("business_id", test.business)).wantCallback(toolCallback)
				return
			}
			if test.refusal != "" {
				p.wantRefusal(test.status, test.refusal)
			} else if p.Status != test.status {
				t.Errorf("%d", p.Status)
			}
			if test.trust.Review == oauthserver.DocumentRefused && site.hits.Load() != 0 {
				t.Error("a refused document was fetched")
			}
			e.wantNothingGranted(t)
		})
	}
}

// CIMD-04, AZ-11: a policy that changes between page and decision takes effect at the decision.
func TestDocumentPolicyAtTheDecision(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after  oauthserver.DocumentReview
		status int
	}{
		"AZ-11 no longer reviewed": {oauthserver.DocumentSandbox, http.StatusForbidden},
		"AZ-11 refused":            {oauthserver.DocumentRefused, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			review := oauthserver.DocumentReviewed
			e := newPageEnv(t, onLoopback, func(c *oauthserver.Config) {
				c.Documents.Policy = func(context.Context, string) (oauthserver.DocumentTrust, error) {
					return oauthserver.DocumentTrust{Review: review}, nil
				}
			})
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.askAsTool(newDocSite(t)).wantOK()
			review = test.after
			if got := b.submit(p, "allow", withParam("business_id", "biz_bakery")); got.Status != test.status {
				t.Errorf("%d, want %d", got.Status, test.status)
			}
			e.wantNothingGranted(t)
		})
	}
}

// CIMD-04: a refused document's client is unknown at the endpoints, from the next request on.
func TestRefusedDocumentAtTheEndpoints(t *testing.T) {
	t.Parallel()
	var trust oauthserver.DocumentTrust
	k := newAPIHarness(t, onLoopback, func(c *oauthserver.Config) {
		c.Documents.Policy = func(context.Context, string) (oauthserver.DocumentTrust, error) { return trust, nil }
	})
	known, unknown := newDocSite(t), newDocSite(t)
	k.token(withBasic(known.URL, ""), "grant_type", "x").authenticated()
	trust.Review = oauthserver.DocumentRefused
	for _, site := range []*docSite{known, unknown} {
		k.token(withBasic(site.URL, ""), "grant_type", "x").notAuthenticated()
	}
	if known.hits.Load() != 1 || unknown.hits.Load() != 0 {
		t.Errorf("fetched %d and %d times", known.hits.Load(), unknown.hits.Load())
	}
}

// CIMD-04: a pinned document is not fetched and counts as reviewed; the one of the newest
// process counts at once.
func TestPinnedDocument(t *testing.T) {
	t.Parallel()
	pinned := func(members map[string]any) func(*oauthserver.Config) {
		body, err := json.Marshal(withMembers(goodDocument(toolURL), members))
		mustDo(t, err)
		return func(c *oauthserver.Config) { c.Documents.Pinned = map[string][]byte{toolURL: body} }
	}
	t.Run("CIMD-04 connects", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t, pinned(nil))
		b := e.browser(t).signIn("usr_owner", "biz_bakery")
		b.submit(b.askAsTool(&docSite{URL: toolURL}).wantOK(), "allow", withParam("business_id", "biz_bakery")).wantCallback(toolCallback)
	})
	t.Run("CIMD-04 refused by the policy", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t, pinned(nil), trusting(oauthserver.DocumentTrust{Review: oauthserver.DocumentRefused}, nil))
		e.browser(t).signIn("usr_owner", "biz_bakery").askAsTool(&docSite{URL: toolURL}).wantRefusal(http.StatusBadRequest, "Invalid client_id")
	})
	t.Run("CIMD-04 stale", func(t *testing.T) {
		t.Parallel()
		r := newDocumentHarness(t, pinned(nil))
		client, err := r.consent(t, toolURL)
		mustDo(t, err)
		other := r.node(t, pinned(map[string]any{"redirect_uris": []string{"https://tool.example/new"}}))
		r.clock.Advance(time.Second)
		if _, err := other.LookupForConsent(t.Context(), toolURL, documentCaller); err != nil {
			t.Fatal(err)
		}
		if got := r.saved(t, client); len(got.RedirectURIs) != 1 || got.RedirectURIs[0] != "https://tool.example/new" {
			t.Errorf("%v", got.RedirectURIs)
		}
	})
}

// CIMD-04: private-use schemes of the option, for PUBLIC clients only.
func TestPrivateUseSchemes(t *testing.T) {
	t.Parallel()
	schemes := func(c *oauthserver.Config) { c.PrivateUseSchemes = []string{"cursor"} }
	const callback = "cursor://anysphere.cursor-mcp/oauth/callback"
	for name, test := range map[string]struct {
		method, uri string
		fine        bool
	}{
		"CIMD-04 public":                {"none", callback, true},
		"CIMD-04 path alone":            {"none", "cursor:/callback", true},
		"CIMD-04 confidential":          {"client_secret_basic", callback, false},
		"CIMD-04 another scheme":        {"none", "vscode://x/callback", false},
		"CIMD-04 no path":               {"none", "cursor:alert(1)", false},
		"CIMD-04 nothing":               {"none", "cursor:", false},
		"CIMD-04 user info":             {"none", "cursor://a@b/callback", false},
		"CIMD-04 query":                 {"none", callback + "?a=b", false},
		"CIMD-04 host that ends a list": {"none", "cursor://a;script-src/callback", false},
		"CIMD-04 a script":              {"none", "javascript:alert(1)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t, openRegistration, schemes)
			got := k.register(`{"client_name":"A","redirect_uris":["` + test.uri + `"],"token_endpoint_auth_method":"` + test.method + `"}`)
			if test.fine != (got.Status == http.StatusCreated) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			if !test.fine {
				got.refused(http.StatusBadRequest, "invalid_redirect_uri", "*")
			}
		})
	}
	t.Run("CIMD-04 form-action", func(t *testing.T) {
		t.Parallel()
		e, site := newPageEnv(t, onLoopback, schemes, trusting(oauthserver.DocumentTrust{Review: oauthserver.DocumentReviewed}, nil)), newDocSite(t)
		site.serve(withMembers(goodDocument(site.URL), map[string]any{"redirect_uris": []string{callback, "ftp://x/y"}}), nil)
		b := e.browser(t).signIn("usr_owner", "biz_bakery")
		p := b.ask(partner.App{ClientID: site.URL, RedirectURIs: []string{callback}}).wantOK()
		if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' cursor:;") {
			t.Errorf("%s", policy)
		}
		if !strings.Contains(p.main(), "return to <strong>cursor</strong>") {
			t.Errorf("%s", p.main())
		}
		b.submit(p, "allow", withParam("business_id", "biz_bakery")).wantCallback(callback)
	})
}

// CIMD-04: a document whose redirect URIs all lead to this computer gets a warning.
func TestLoopbackWarning(t *testing.T) {
	t.Parallel()
	const warning = "Any program on your computer could be asking"
	for name, test := range map[string]struct {
		uris []string
		want bool
	}{
		"CIMD-04 all loopback":             {[]string{"http://127.0.0.1/callback", "http://localhost/callback", "http://[::1]/callback"}, true},
		"CIMD-04 one elsewhere":            {[]string{"http://127.0.0.1/callback", toolCallback}, false},
		"CIMD-04 the other one is dropped": {[]string{"http://127.0.0.1/callback", "http://tool.example/callback"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, site := newPageEnv(t, onLoopback, trusting(oauthserver.DocumentTrust{Review: oauthserver.DocumentReviewed}, nil)), newDocSite(t)
			site.serve(withMembers(goodDocument(site.URL), map[string]any{"redirect_uris": test.uris}), nil)
			p := e.browser(t).signIn("usr_owner", "biz_bakery").ask(partner.App{ClientID: site.URL, RedirectURIs: test.uris}).wantOK()
			if strings.Contains(p.main(), warning) != test.want {
				t.Errorf("%s", p.main())
			}
		})
	}
	t.Run("CIMD-04 a registered app", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		app := e.app(t, func(a *partner.App) { a.RedirectURIs = []string{"http://127.0.0.1/callback"} })
		p := e.browser(t).signIn("usr_owner", "biz_bakery").ask(app).wantOK()
		if strings.Contains(p.main(), warning) {
			t.Error("warned")
		}
	})
}
