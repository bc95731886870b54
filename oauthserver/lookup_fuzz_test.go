package oauthserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// CIMD-01: whatever passes as the URL of a document is one, by other means.
func FuzzDocumentURL(f *testing.F) {
	for _, seed := range []string{
		"https://desk.example/client.json", "https://desk.example:8443/a/b/?c=d", "https://desk.example/%2e%2e/x", "https://desk.example/a%2f..%2fb",
		"https://user@desk.example/x", "https://desk.example/x#y", "http://127.0.0.1/x", "https://[::1]/x", "https://2130706433/x", "https://desk.example//x//",
		`https://desk.example/a\..\b`, "HTTPS://DESK.EXAMPLE/X", "https://desk.example/%zz", "https://desk.example/a;..;/b", "cli_1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !oauthserver.IsDocumentURL(raw, outbound.Policy{}) {
			return
		}
		if !strings.HasPrefix(raw, "https://") || strings.ContainsAny(raw, "#\\ \t\r\n\x00\"<>") || !utf8.ValidString(raw) {
			t.Fatalf("%q passed", raw)
		}
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Host == "" || u.Scheme != "https" || u.Fragment != "" || u.String() != raw {
			t.Fatalf("%q passed: %v", raw, err)
		}
		if !oauthserver.IsDocumentURL(raw, outbound.Policy{AllowLoopback: true}) {
			t.Fatalf("%q passes in production only", raw)
		}
		// Cleaning a path without dot segments changes slashes only.
		clean := func(p string) string { return strings.ReplaceAll(p, "/", "") }
		if got := path.Clean(u.Path); clean(got) != clean(u.Path) {
			t.Fatalf("%q has dot segments: cleaned %q", raw, got)
		}
	})
}

// CIMD-01: whatever passes as a document keeps its rules.
func FuzzDocument(f *testing.F) {
	good, err := json.Marshal(goodDocument(deskURL))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, members := range []string{
		`"scope":"invoices:read openid"`, `"grant_types":["authorization_code","x"]`, `"response_types":["code"]`, `"token_endpoint_auth_method":"none"`,
		`"client_secret":null`, `"CLIENT_ID":"x"`, `"client\u005fid":"x"`, `"x":{"y":[1e400]}`, `"client_name":null`, `"logo_uri":"javascript:x"`,
	} {
		f.Add([]byte("{" + members + "," + string(good[1:])))
	}
	f.Add([]byte("null"))
	f.Add([]byte(strings.Repeat("[", 5000)))
	catalog := identity.DefaultScopes()
	f.Fuzz(func(t *testing.T, body []byte) {
		app, err := oauthserver.ParseDocument(deskURL, body, catalog)
		if err != nil {
			return
		}
		if app.ClientID != deskURL || app.Type != oauthserver.Public || app.Origin != oauthserver.OriginDocument || app.Reviewed || app.OrganizationID != "" || app.Name == "" {
			t.Fatalf("%+v", app)
		}
		if app.Scopes.IsEmpty() || !catalog.Requestable().HasAll(app.Scopes) || len(app.RedirectURIs) == 0 || !json.Valid([]byte(app.Metadata)) {
			t.Fatalf("%+v", app)
		}
		for _, uri := range app.RedirectURIs {
			if err := (oauthserver.RedirectRules{}).Check(uri); err != nil {
				t.Fatalf("%q %v", uri, err)
			}
		}
		// An ordinary reader agrees about what counts.
		var plain map[string]any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&plain); err != nil || plain["client_id"] != deskURL {
			t.Fatalf("%s: %v", body, err)
		}
		if name := plain["client_name"]; name != app.Name && (name != nil || app.Name != "desk.example") {
			t.Fatalf("%s is called %q", body, app.Name)
		}
		if _, found := plain["client_secret"]; found {
			t.Fatalf("%s has a secret", body)
		}
	})
}

// TX-02: no text but the one that was issued passes, and no text is repeated.
func FuzzSessionToken(f *testing.F) {
	r := newDocRig(f, nil)
	app, m := r.embedded(f)
	token := r.issue(f, r.Server, m)
	parts := strings.Split(token, ".")
	f.Add(token)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add(b64(f, map[string]any{"alg": "none", "typ": "JWT", "kid": "key_1"}) + "." + parts[1] + ".")
	f.Add(b64(f, map[string]any{"alg": "HS256", "typ": "JWT", "kid": unb64(f, parts[0])["kid"]}) + "." + parts[1] + "." + parts[2])
	f.Add(strings.Repeat(".", 100))
	f.Add("{}")
	verifier := r.SessionVerifier()
	f.Fuzz(func(t *testing.T, text string) {
		got, err := verifier.VerifySessionToken(t.Context(), app, text, r.clock.Now())
		switch {
		case err == nil:
			// The last character of a signature has bits that mean nothing.
			if len(text) != len(token) || text[:len(text)-1] != token[:len(token)-1] || got.UserID != "usr_1" {
				t.Fatalf("%q passed", text)
			}
		case errors.Is(err, oauthserver.ErrInternal):
			t.Fatalf("%q is a fault: %v", text, err)
		case len(text) > 60 && strings.Contains(err.Error(), text):
			t.Fatalf("the error repeats the token: %v", err)
		}
	})
}
