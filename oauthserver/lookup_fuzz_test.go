package oauthserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// CIMD-01: every accepted document follows the rules.
func FuzzDocument(f *testing.F) {
	good, err := json.Marshal(goodDocument(toolURL))
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
		app, err := oauthserver.ParseDocument(toolURL, body, catalog)
		if err != nil {
			return
		}
		if app.ClientID != toolURL || app.Type != partner.Public || app.Origin != partner.OriginDocument || app.Reviewed || app.OrganizationID != "" || app.Name == "" {
			t.Fatalf("%+v", app)
		}
		if app.Scopes.IsEmpty() || !catalog.Requestable().HasAll(app.Scopes) || len(app.RedirectURIs) == 0 || !json.Valid([]byte(app.Metadata)) {
			t.Fatalf("%+v", app)
		}
		for _, uri := range app.RedirectURIs {
			if problem := (oauthserver.RedirectRules{}).Problem(uri); problem != "" {
				t.Fatalf("%q %v", uri, err)
			}
		}
		// An ordinary reader agrees about what counts.
		var plain map[string]any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&plain); err != nil || plain["client_id"] != toolURL {
			t.Fatalf("%s: %v", body, err)
		}
		if name := plain["client_name"]; name != app.Name && (name != nil || app.Name != "tool.example") {
			t.Fatalf("%s is called %q", body, app.Name)
		}
		if _, found := plain["client_secret"]; found {
			t.Fatalf("%s has a secret", body)
		}
	})
}

// TX-02: no text but the one that was issued passes, and no text is repeated.
func FuzzSessionToken(f *testing.F) {
	r := newDocumentHarness(f, nil)
	app, m := r.embedded(f)
	token := r.issue(f, r.Server, m)
	parts := strings.Split(token, ".")
	f.Add(token)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add(b64(f, map[string]any{"alg": "none", "typ": "JWT", "kid": "key_1"}) + "." + parts[1] + ".")
	f.Add(b64(f, map[string]any{"alg": "HS256", "typ": "JWT", "kid": unb64(f, parts[0])["kid"]}) + "." + parts[1] + "." + parts[2])
	f.Add(strings.Repeat(".", 100))
	f.Add("{}")
	verifier := r.Server
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
