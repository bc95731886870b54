package oauthserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// CIMD-01: which client ids are URLs of documents.
func TestDocumentURL_CIMD01(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url              string
		public, loopback bool // under the two policies
	}{
		{"https://desk.example/client.json", true, true},
		{"https://desk.example:8443/client.json", true, true},
		{"https://desk.example/a/b/", true, true},
		{"https://desk.example/client.json?v=1", true, true},
		{"https://desk.example/a%20b", true, true},
		{"https://desk.example/a..b/...", true, true},
		{"https://desk.example/.well-known/client", true, true},
		{"https://93.184.216.34/client", true, true},
		{"", false, false},
		{"cli_06g5plpa01o015r0g79mgnmm4c", false, false},
		{"https://desk.example", false, false},
		{"https://desk.example/", false, false},
		{"https://desk.example?x=/client", false, false},
		{"HTTPS://desk.example/client", false, false},
		{" https://desk.example/client", false, false},
		{"https:desk.example/client", false, false},
		{"https:///client", false, false},
		{"//desk.example/client", false, false},
		{"http://desk.example/client", false, false},
		{"ftp://desk.example/client", false, false},
		{"javascript:alert(1)//x", false, false},
		{"https://desk.example/client#", false, false},
		{"https://desk.example/client#top", false, false},
		{"https://user@desk.example/client", false, false},
		{"https://user:password@desk.example/client", false, false},
		{"https://@desk.example/client", false, false},
		{"https://desk.example/.", false, false},
		{"https://desk.example/..", false, false},
		{"https://desk.example/a/../client", false, false},
		{"https://desk.example/./client", false, false},
		{"https://desk.example/a/%2e%2e/client", false, false},
		{"https://desk.example/a/%2E./client", false, false},
		{"https://desk.example/%2e/client", false, false},
		{"https://desk.example/a%2f..%2fclient", false, false},
		{"https://desk.example/a%5c..%5cclient", false, false},
		{`https://desk.example/a\..\client`, false, false},
		{"https://desk.example/a b", false, false},
		{"https://desk.example/a\x00b", false, false},
		{"https://desk.example/\u00e4", false, false},
		{"https://desk.example/<script>", false, false},
		{`https://desk.example/a?"x"`, false, false},
		{"https://desk.example/%zz", false, false},
		{"https://desk.example:0/client", false, false},
		{"https://desk.example:/client", false, false},
		{"https://desk.example/" + strings.Repeat("a", 2048), false, false},
		// Addresses, as DLV-07 judges them.
		{"https://10.0.0.1/client", false, false},
		{"https://169.254.169.254/client", false, false},
		{"https://[fd00:ec2::254]/client", false, false},
		{"https://[::ffff:10.0.0.1]/client", false, false},
		{"https://0.0.0.0/client", false, false},
		{"https://2130706433/client", false, false},
		{"https://0x7f.1/client", false, false},
		{"https://127.1/client", false, false},
		{"https://127.0.0.1/client", false, true},
		{"https://localhost:1234/client", false, true},
		{"https://LOCALHOST./client", false, true},
		{"https://[::1]/client", false, true},
		{"http://127.0.0.1:1234/client", false, true},
		{"http://localhost/client", false, true},
		{"http://10.0.0.1/client", false, false},
	}
	for _, test := range tests {
		if got := oauthserver.IsDocumentURL(test.url, outbound.Policy{}); got != test.public {
			t.Errorf("%q: %t", test.url, got)
		}
		if got := oauthserver.IsDocumentURL(test.url, outbound.Policy{AllowLoopback: true}); got != test.loopback {
			t.Errorf("%q, loopback allowed: %t", test.url, got)
		}
	}
}

const deskURL = "https://desk.example/client.json"

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
		{"members that nobody knows", members{"application_type": "native", "jwks_uri": "https://desk.example/jwks"}, true},
		{"client_id absent", members{"client_id": nil}, false},
		{"client_id null", members{"client_id": json.RawMessage("null")}, false},
		{"client_id of another document", members{"client_id": "https://desk.example/other.json"}, false},
		{"client_id with the port written", members{"client_id": "https://desk.example:443/client.json"}, false},
		{"client_id with the host in capitals", members{"client_id": "https://DESK.example/client.json"}, false},
		{"client_id with a query", members{"client_id": deskURL + "?"}, false},
		{"client_id in another case only", members{"client_id": nil, "Client_Id": deskURL}, false},
		{"client_id a number", members{"client_id": 1}, false},
		{"name absent", members{"client_name": nil}, true},
		{"name empty", members{"client_name": ""}, false},
		{"name blank", members{"client_name": " \t"}, false},
		{"name of 120 characters", members{"client_name": strings.Repeat("ä", 120)}, true},
		{"name of 121 characters", members{"client_name": strings.Repeat("ä", 121)}, false},
		{"name with a line break", members{"client_name": "Desk\nby Service"}, false},
		{"name that turns the text around", members{"client_name": "Desk \u202eecivreS"}, false},
		{"REG-02 name of combining characters", members{"client_name": "\u0301\u0302"}, false},
		{"REG-02 name of fillers", members{"client_name": "\u3164 \u2800"}, false},
		{"REG-02 name of zero width spaces", members{"client_name": "\u200b\u200b"}, false},
		{"name with joiners", members{"client_name": "Desk \U0001f469\u200d\U0001f4bb"}, true},
		{"redirect_uris absent", members{"redirect_uris": nil}, false},
		{"redirect_uris null", members{"redirect_uris": json.RawMessage("null")}, false},
		{"redirect_uris empty", members{"redirect_uris": []string{}}, false},
		{"redirect_uris a string", members{"redirect_uris": "https://desk.example/"}, false},
		{"redirect_uris with null", members{"redirect_uris": []any{nil}}, false},
		{"more than 5 redirect_uris", members{"redirect_uris": []string{"https://a/1", "https://a/2", "https://a/3", "https://a/4", "https://a/5", "https://a/6"}}, true},
		{"redirect over http", members{"redirect_uris": []string{"https://desk.example/", "http://desk.example/"}}, false},
		{"REG-01 redirect on port 0", members{"redirect_uris": []string{"http://127.0.0.1:0/cb"}}, false},
		{"REG-01 redirect on port 05000", members{"redirect_uris": []string{"http://127.0.0.1:05000/cb"}}, false},
		{"REG-01 redirect on port 99999", members{"redirect_uris": []string{"http://[::1]:99999/cb"}}, false},
		{"redirect on loopback", members{"redirect_uris": []string{"http://localhost:3000/x", "http://[::1]/", "http://127.0.0.1/"}}, true},
		{"redirect with a query", members{"redirect_uris": []string{"https://desk.example/?a=b"}}, false},
		{"redirect with a fragment", members{"redirect_uris": []string{"https://desk.example/#"}}, false},
		{"redirect with a wildcard", members{"redirect_uris": []string{"https://*.desk.example/"}}, false},
		{"redirect to a script", members{"redirect_uris": []string{"javascript:alert(1)"}}, false},
		{"redirect to a private scheme", members{"redirect_uris": []string{"com.example.desk:/x"}}, false},
		{"redirect of 513 characters", members{"redirect_uris": []string{"https://desk.example/" + strings.Repeat("a", 492)}}, false},
		{"auth method none", members{"token_endpoint_auth_method": "none"}, true},
		{"auth method null", members{"token_endpoint_auth_method": json.RawMessage("null")}, true},
		{"auth method empty", members{"token_endpoint_auth_method": ""}, false},
		{"auth method basic", members{"token_endpoint_auth_method": "client_secret_basic"}, false},
		{"auth method post", members{"token_endpoint_auth_method": "client_secret_post"}, false},
		{"auth method private_key_jwt", members{"token_endpoint_auth_method": "private_key_jwt"}, false},
		{"a secret", members{"client_secret": "s3cret"}, false},
		{"a secret of null", members{"client_secret": json.RawMessage("null")}, false},
		{"when a secret expires", members{"client_secret_expires_at": 0}, false},
		{"known scopes", members{"scope": "invoices:read events:read"}, true},
		{"some unknown scopes", members{"scope": "openid invoices:read"}, true},
		{"only unknown scopes", members{"scope": "openid email"}, false},
		{"only internal scopes", members{"scope": "internal:admin"}, false},
		{"scope empty", members{"scope": ""}, false},
		{"scope malformed", members{"scope": "invoices:read  events:read"}, false},
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
		{"notes", members{"client_uri": "https://desk.example", "contacts": []string{"a@desk.example"}, "software_id": "x"}, true},
		{"a note of another type", members{"client_uri": 1}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(withMembers(goodDocument(deskURL), test.members))
			mustDo(t, err)
			if _, err := oauthserver.ParseDocument(deskURL, body, identity.DefaultScopes()); (err == nil) != test.fine {
				t.Errorf("%s: %v", body, err)
			}
		})
	}
}

// CIMD-01: JSON that two readers could understand differently.
func TestDocumentAmbiguity_CIMD01(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(goodDocument(deskURL))
	mustDo(t, err)
	front := func(members string) string { return "{" + members + "," + string(good[1:]) }
	for name, body := range map[string]string{
		"client_id twice":              front(`"client_id":"https://evil.example/x"`),
		"client_id twice by escape":    front(`"client\u005fid":"` + deskURL + `"`),
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
		if _, err := oauthserver.ParseDocument(deskURL, []byte(body), identity.DefaultScopes()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// Names in another case are other names, and never stand in for the real ones.
	app, err := oauthserver.ParseDocument(deskURL, []byte(front(`"CLIENT_NAME":"Service","Redirect_URIs":["https://evil.example/"],"SCOPE":"internal:admin"`)), identity.DefaultScopes())
	if err != nil || app.Name != "Desk" || len(app.RedirectURIs) != 2 || !app.Scopes.Equal(identity.DefaultScopes().Requestable()) {
		t.Errorf("%+v, %v", app, err)
	}
}

// CIMD-01: the app that a document makes.
func TestDocumentApp_CIMD01(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(withMembers(goodDocument(deskURL), map[string]any{
		"redirect_uris": []string{"https://desk.example/b", "https://desk.example/a", "https://desk.example/b"},
		"scope":         "payments:read openid internal:admin invoices:read payments:read",
		"logo_uri":      "https://desk.example/logo.png", "secret_sauce": true,
	}))
	mustDo(t, err)
	got, err := oauthserver.ParseDocument(deskURL, body, identity.DefaultScopes())
	mustDo(t, err)
	want := oauthserver.App{
		ClientID: deskURL, Type: oauthserver.Public, Status: oauthserver.AppActive, Origin: oauthserver.OriginDocument, Name: "Desk",
		RedirectURIs: []string{"https://desk.example/b", "https://desk.example/a"},
		Scopes:       identity.MustScopes("payments:read", "invoices:read"), Metadata: `{"logo_uri":"https://desk.example/logo.png"}`,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b identity.Scopes) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
