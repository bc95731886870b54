package clientmetadata_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
)

func registration() clientmetadata.Rules {
	return clientmetadata.Rules{
		Scopes: identity.DefaultScopes(), MaxRedirectURIs: 2,
		AuthMethods: []string{"client_secret_basic", "none"}, GrantTypes: []string{"authorization_code", "refresh_token"},
	}
}

func document() clientmetadata.Rules {
	return clientmetadata.Rules{
		Scopes: identity.DefaultScopes(), AuthMethods: []string{"none"}, GrantTypes: []string{"authorization_code"},
		DefaultName: "tool.example", DropUnsupported: true,
	}
}

func read(t *testing.T, rules clientmetadata.Rules, text string) (clientmetadata.Client, error) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	return rules.Read(members)
}

func TestRead(t *testing.T) {
	t.Parallel()
	all := identity.DefaultScopes().Requestable().String()
	const uris = `"redirect_uris":["https://a.example/cb"]`
	for _, test := range []struct {
		name  string
		rules clientmetadata.Rules
		text  string
		want  clientmetadata.Client // without RedirectURIs, and Scope if it is everything
		code  oautherror.Code
	}{
		{name: "REG-02 defaults", rules: registration(), text: `{"client_name":"A","scope":null,` + uris + `}`, want: clientmetadata.Client{
			Name: "A", Details: clientmetadata.Details{AuthMethod: "client_secret_basic", GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"}},
		}},
		{name: "REG-02 empty scope", rules: registration(), text: `{"client_name":"A","scope":"",` + uris + `}`, want: clientmetadata.Client{
			Name: "A", Details: clientmetadata.Details{AuthMethod: "client_secret_basic", GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"}},
		}},
		{name: "CIMD-01 empty scope", rules: document(), text: `{"scope":"",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "CIMD-01 defaults", rules: document(), text: `{` + uris + `}`, want: clientmetadata.Client{
			Name: "tool.example", Details: clientmetadata.Details{AuthMethod: "none", GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"}},
		}},
		{name: "REG-02 values", rules: registration(), text: `{"client_name":"A","scope":"invoices:read","token_endpoint_auth_method":"none","grant_types":["x","refresh_token","refresh_token"],"contacts":["a@a.example"],` + uris + `}`, want: clientmetadata.Client{
			Name: "A", Scope: "invoices:read",
			Details: clientmetadata.Details{AuthMethod: "none", GrantTypes: []string{"refresh_token"}, ResponseTypes: []string{"code"}, Notes: clientmetadata.Notes{Contacts: []string{"a@a.example"}}},
		}},
		{name: "CIMD-03 drops what other servers support", rules: document(), text: `{"client_name":"A","scope":"openid invoices:read","client_uri":"http://a.example","logo_uri":"https://a.example/l","software_id":"a\nb","contacts":[""],` + uris + `}`, want: clientmetadata.Client{
			Name: "A", Scope: "invoices:read",
			Details: clientmetadata.Details{AuthMethod: "none", GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"}, Notes: clientmetadata.Notes{LogoURI: "https://a.example/l"}},
		}},
		{name: "REG-02 name", rules: registration(), text: `{` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "REG-02 scope", rules: registration(), text: `{"client_name":"A","scope":"openid invoices:read",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "REG-02 client_uri", rules: registration(), text: `{"client_name":"A","client_uri":"http://a.example",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "REG-02 software_id", rules: registration(), text: `{"client_name":"A","software_id":"a\nb",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "REG-02 contacts", rules: registration(), text: `{"client_name":"A","contacts":[""],` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "REG-01 before REG-02", rules: registration(), text: `{"redirect_uris":["http://a.example/"]}`, code: oautherror.InvalidRedirectURI},
		{name: "REG-01 too many", rules: registration(), text: `{"client_name":"A","redirect_uris":["https://a.example/1","https://a.example/2","https://a.example/3"]}`, code: oautherror.InvalidRedirectURI},
		{name: "CIMD-01 auth method", rules: document(), text: `{"token_endpoint_auth_method":"client_secret_basic",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "CIMD-01 empty name", rules: document(), text: `{"client_name":"",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "CIMD-01 no redirect URI", rules: document(), text: `{"redirect_uris":[]}`, code: oautherror.InvalidRedirectURI},
		{name: "CIMD-03 no grant type", rules: document(), text: `{"grant_types":["implicit"],` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "CIMD-03 no scope", rules: document(), text: `{"scope":"openid",` + uris + `}`, code: oautherror.InvalidClientMetadata},
		{name: "CIMD-03 a type is not dropped", rules: document(), text: `{"client_uri":1,` + uris + `}`, code: oautherror.InvalidClientMetadata},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, test.rules, test.text)
			if test.code != "" {
				if problem, ok := errors.AsType[*oautherror.Error](err); !ok || problem.Code != test.code {
					t.Errorf("%v, want %s", err, test.code)
				}
				return
			}
			if test.want.Scope == "" {
				test.want.Scope = all
			}
			test.want.RedirectURIs = []string{"https://a.example/cb"}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(clientmetadata.Client{}, "Scopes")); diff != "" || err != nil || got.Scopes.String() != got.Scope {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
