package oauthserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

const toolURL = "https://tool.example/client.json"

// CIMD-01, CIMD-03: the rules for what a document says.
func TestDocumentRules_CIMD01_CIMD03(t *testing.T) {
	t.Parallel()
	type members = map[string]any
	tests := []struct {
		name    string
		members members
		fine    bool
	}{
		{"the least", nil, true},
		{"unknown members", members{"application_type": "native", "jwks_uri": "https://tool.example/jwks"}, true},
		{"client_id absent", members{"client_id": nil}, false},
		{"client_id null", members{"client_id": json.RawMessage("null")}, false},
		{"client_id of another document", members{"client_id": "https://tool.example/other.json"}, false},
		{"client_id with the port written", members{"client_id": "https://tool.example:443/client.json"}, false},
		{"client_id with the host in capitals", members{"client_id": "https://TOOL.example/client.json"}, false},
		{"client_id with a query", members{"client_id": toolURL + "?"}, false},
		{"client_id in another case only", members{"client_id": nil, "Client_Id": toolURL}, false},
		{"client_id a number", members{"client_id": 1}, false},
		{"name absent", members{"client_name": nil}, true},
		{"name empty", members{"client_name": ""}, false},
		{"name blank", members{"client_name": " \t"}, false},
		{"name of 120 characters", members{"client_name": strings.Repeat("ä", 120)}, true},
		{"name of 121 characters", members{"client_name": strings.Repeat("ä", 121)}, false},
		{"name with a line break", members{"client_name": "Tool\nby Service"}, false},
		{"name that turns the text around", members{"client_name": "Tool \u202eecivreS"}, false},
		{"REG-02 name of combining characters", members{"client_name": "\u0301\u0302"}, false},
		{"REG-02 name of fillers", members{"client_name": "\u3164 \u2800"}, false},
		{"REG-02 name of zero width spaces", members{"client_name": "\u200b\u200b"}, false},
		{"name with joiners", members{"client_name": "Tool \U0001f469\u200d\U0001f4bb"}, true},
		{"redirect_uris absent", members{"redirect_uris": nil}, false},
		{"redirect_uris null", members{"redirect_uris": json.RawMessage("null")}, false},
		{"redirect_uris empty", members{"redirect_uris": []string{}}, false},
		{"redirect_uris a string", members{"redirect_uris": "https://tool.example/"}, false},
		{"redirect_uris with null", members{"redirect_uris": []any{nil}}, false},
		{"more than 5 redirect_uris", members{"redirect_uris": []string{"https://a/1", "https://a/2", "https://a/3", "https://a/4", "https://a/5", "https://a/6"}}, true},
		{"redirect over http", members{"redirect_uris": []string{"http://tool.example/"}}, false},
		{"CIMD-04 one of them over http", members{"redirect_uris": []string{"https://tool.example/", "http://tool.example/"}}, true},
		{"CIMD-04 one of them of a private scheme", members{"redirect_uris": []string{"cursor://tool/callback", "https://tool.example/"}}, true},
		{"CIMD-04 none left", members{"redirect_uris": []string{"cursor://tool/callback", "http://tool.example/"}}, false},
		{"REG-01 redirect on port 0", members{"redirect_uris": []string{"http://127.0.0.1:0/cb"}}, false},
		{"REG-01 redirect on port 05000", members{"redirect_uris": []string{"http://127.0.0.1:05000/cb"}}, false},
		{"REG-01 redirect on port 99999", members{"redirect_uris": []string{"http://[::1]:99999/cb"}}, false},
		{"redirect on loopback", members{"redirect_uris": []string{"http://localhost:3000/x", "http://[::1]/", "http://127.0.0.1/"}}, true},
		{"redirect with a query", members{"redirect_uris": []string{"https://tool.example/?a=b"}}, false},
		{"redirect with a fragment", members{"redirect_uris": []string{"https://tool.example/#"}}, false},
		{"redirect with a wildcard", members{"redirect_uris": []string{"https://*.tool.example/"}}, false},
		{"redirect to a script", members{"redirect_uris": []string{"javascript:alert(1)"}}, false},
		{"redirect to a private scheme", members{"redirect_uris": []string{"com.example.tool:/x"}}, false},
		{"redirect of 513 characters", members{"redirect_uris": []string{"https://tool.example/" + strings.Repeat("a", 492)}}, false},
		{"auth method none", members{"token_endpoint_auth_method": "none"}, true},
		{"auth method null", members{"token_endpoint_auth_method": json.RawMessage("null")}, true},
		{"auth method empty", members{"token_endpoint_auth_method": ""}, false},
		{"auth method basic", members{"token_endpoint_auth_method": "client_secret_basic"}, false},
		{"auth method post", members{"token_endpoint_auth_method": "client_secret_post"}, false},
		{"auth method private_key_jwt", members{"token_endpoint_auth_method": "private_key_jwt"}, false},
		{"CIMD-01 another method, or none", members{"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": []string{"private_key_jwt", "none"}}, true},
		{"CIMD-01 other methods", members{"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": []string{"private_key_jwt"}}, false},
		{"CIMD-01 methods of the wrong type", members{"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": "none"}, false},
		{"a secret", members{"client_secret": "s3cret"}, false},
		{"a secret of null", members{"client_secret": json.RawMessage("null")}, false},
		{"when a secret expires", members{"client_secret_expires_at": 0}, false},
		{"known scopes", members{"scope": "invoices:read events:read"}, true},
		{"some unknown scopes", members{"scope": "openid invoices:read"}, true},
		{"only unknown scopes", members{"scope": "openid email"}, false},
		{"only internal scopes", members{"scope": "internal:admin"}, false},
		{"scope empty", members{"scope": ""}, false},
		{"scope of spaces alone", members{"scope": "  "}, false},
		{"AZ-18 scopes with several spaces", members{"scope": "  invoices:read   events:read "}, true},
		{"scope malformed", members{"scope": "invoices:read\tevents:read"}, false},
		{"scope a list", members{"scope": []string{"invoices:read"}}, false},
		{"grant types, some unknown", members{"grant_types": []string{"implicit", "authorization_code", "urn:x"}}, true},
		{"the device grant alone", members{"grant_types": []string{"urn:ietf:params:oauth:grant-type:device_code"}}, true},
		{"no known grant type", members{"grant_types": []string{"implicit", "password"}}, false},
		{"grant types of confidential clients", members{"grant_types": []string{"client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"}}, false},
		{"no grant type", members{"grant_types": []string{}}, false},
		{"response types, some unknown", members{"response_types": []string{"code id_token", "code"}}, true},
		{"no known response type", members{"response_types": []string{"token"}}, false},
		{"no response type", members{"response_types": []string{}}, false},
		{"response type in another case", members{"response_types": []string{"CODE"}}, false},
		{"notes", members{"client_uri": "https://tool.example", "contacts": []string{"a@tool.example"}, "software_id": "x"}, true},
		{"a note of another type", members{"client_uri": 1}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(withMembers(goodDocument(toolURL), test.members))
			mustDo(t, err)
			if _, err := oauthserver.ParseDocument(toolURL, body, identity.DefaultScopes()); (err == nil) != test.fine {
				t.Errorf("%s: %v", body, err)
			}
		})
	}
}

// CIMD-01: JSON that two readers could understand differently.
func TestDocumentAmbiguity_CIMD01(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(goodDocument(toolURL))
	mustDo(t, err)
	front := func(members string) string { return "{" + members + "," + string(good[1:]) }
	for name, body := range map[string]string{
		"client_id twice":              front(`"client_id":"https://evil.example/x"`),
		"client_id twice by escape":    front(`"client\u005fid":"` + toolURL + `"`),
		"redirect_uris twice":          front(`"redirect_uris":["https://evil.example/"]`),
		"an unknown member twice":      front(`"x":1,"x":2`),
		"a member twice inside":        front(`"x":{"a":1,"a":2}`),
		"two documents":                string(good) + string(good),
		"a list":                       "[" + string(good) + "]",
		"null":                         "null",
		"empty":                        "",
		"cut":                          string(good[:len(good)-1]),
		"byte order mark":              "\ufeff" + string(good),
		"not UTF-8":                    front(`"x":"` + "\xff" + `"`),
		"NUL":                          front(`"x":"\u0000"`),
		"very deep":                    front(`"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000)),
		"comment":                      "/* */" + string(good),
		"a secret in another spelling": front(`"client\u005fsecret":"x"`),
	} {
		if _, err := oauthserver.ParseDocument(toolURL, []byte(body), identity.DefaultScopes()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// Names in another case are other names, and never stand in for the real ones.
	app, err := oauthserver.ParseDocument(toolURL, []byte(front(`"CLIENT_NAME":"Service","Redirect_URIs":["https://evil.example/"],"SCOPE":"internal:admin"`)), identity.DefaultScopes())
	if err != nil || app.Name != "Tool" || len(app.RedirectURIs) != 2 || !app.Scopes.Equal(identity.DefaultScopes().Requestable()) {
		t.Errorf("%+v, %v", app, err)
	}
}

// CIMD-01: the app that a document makes.
func TestDocumentApp_CIMD01(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(withMembers(goodDocument(toolURL), map[string]any{
		"redirect_uris": []string{"https://tool.example/b", "https://tool.example/a", "https://tool.example/b"},
		"scope":         "payments:read openid internal:admin invoices:read payments:read",
		"logo_uri":      "https://tool.example/logo.png", "secret_sauce": true,
	}))
	mustDo(t, err)
	got, err := oauthserver.ParseDocument(toolURL, body, identity.DefaultScopes())
	mustDo(t, err)
	want := partner.App{
		ClientID: toolURL, Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginDocument, Name: "Tool",
		RedirectURIs: []string{"https://tool.example/b", "https://tool.example/a"},
		Scopes:       identity.MustScopes("payments:read", "invoices:read"), Metadata: `{"logo_uri":"https://tool.example/logo.png"}`,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b identity.Scopes) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
