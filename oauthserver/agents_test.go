package oauthserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// META-08: each option adds its own members to the server metadata and changes no other.
func TestServerMetadataOptions(t *testing.T) {
	t.Parallel()
	const path = "/.well-known/oauth-authorization-server"
	plain := newAPIHarness(t).send("GET", path, "").body
	for name, test := range map[string]struct {
		change func(*oauthserver.Config)
		want   map[string]any
	}{
		"META-08 issuer parameter": {
			func(c *oauthserver.Config) { c.IssuerParameter = true },
			map[string]any{"authorization_response_iss_parameter_supported": true},
		},
		"META-08 internal scopes": {
			func(c *oauthserver.Config) { c.HideInternalScopes = true },
			map[string]any{"scopes_supported": anyList(identity.DefaultScopes().Requestable().Names())},
		},
		"META-08 loopback ports": {func(c *oauthserver.Config) { c.LoopbackPorts = oauthserver.LoopbackPortsAll }, nil},
		"META-08 default scopes": {func(c *oauthserver.Config) { c.RegisteredScopesAsDefault = true }, nil},
		"AZ-18 scope optional":   {func(c *oauthserver.Config) { c.OptionalScope = true }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]any{}
			for member, value := range plain {
				want[member] = value
			}
			for member, value := range test.want {
				want[member] = value
			}
			if diff := cmp.Diff(want, newAPIHarness(t, test.change).send("GET", path, "").body); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func anyList(values []string) []any {
	list := make([]any, len(values))
	for i, value := range values {
		list[i] = value
	}
	return list
}

// META-08: approvals and denials name the issuer.
func TestIssuerParameter(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(c *oauthserver.Config) { c.IssuerParameter = true })
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	app := e.app(t)
	t.Run("META-08 approval", func(t *testing.T) {
		got := b.submit(b.ask(app).wantOK(), "allow", withParam("business_id", "biz_bikes")).wantCallback(pageCallback)
		if got.Get("iss") != pageAPI || got.Get("state") != "xyz" || got.Get("code") == "" || len(got) != 3 {
			t.Errorf("%v", got)
		}
	})
	t.Run("META-08 denial", func(t *testing.T) {
		got := b.submit(b.ask(app).wantOK(), "deny").wantCallback(pageCallback)
		if diff := cmp.Diff(url.Values{"error": {"access_denied"}, "state": {"xyz"}, "iss": {pageAPI}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// META-08: a registered app may ask for more than it registered, for what apps may request
// and for nothing else.
func TestRegisteredScopes(t *testing.T) {
	t.Parallel()
	const body = `{"client_name":"Agent","redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"none","scope":"invoices:read"}`
	for name, test := range map[string]struct {
		change func(*oauthserver.Config)
		scope  string // of the device request
		want   string // empty: invalid_scope
	}{
		"REG-02 a bound":               {nil, "invoices:read customers:read", ""},
		"META-08 none named":           {asDefault, "", "invoices:read"},
		"META-08 more than registered": {asDefault, "invoices:read customers:read", "invoices:read customers:read"},
		"META-08 not what is internal": {asDefault, "invoices:read internal:admin", ""},
		"META-08 unknown scope":        {asDefault, "openid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := []func(*oauthserver.Config){openRegistration}
			if test.change != nil {
				changes = append(changes, test.change)
			}
			k := newAPIHarness(t, changes...)
			registered := k.register(body)
			if registered.Status != http.StatusCreated || registered.text("scope") != "invoices:read" {
				t.Fatalf("%d %s", registered.Status, registered.Body)
			}
			got := k.post("/oauth/device/authorize", withBasic(registered.text("client_id"), ""), "scope", test.scope)
			if test.want == "" {
				got.refused(http.StatusBadRequest, "invalid_scope", "*")
				return
			}
			device, err := k.Store.DeviceByUserCode(t.Context(), got.text("user_code"))
			if err != nil || device.Scopes.String() != test.want {
				t.Errorf("%v, %v", device.Scopes, err)
			}
		})
	}
}

func asDefault(c *oauthserver.Config) { c.RegisteredScopesAsDefault = true }

// AZ-18, META-08: an authorization request without scopes is for those that the app registered.
func TestOptionalScope_AZ18(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, asDefault, func(c *oauthserver.Config) { c.OptionalScope = true })
	asIs := func(*partner.App) {}
	withInternal := func(a *partner.App) {
		a.Scopes = identity.MustScopes("invoices:read", "internal:admin", "customers:read")
	}
	byDefault := func(a *partner.App) {
		a.Origin, a.Metadata = partner.OriginRegistered, `{"scope":"customers:read"}`
	}
	for name, test := range map[string]struct {
		app   func(*partner.App)
		scope func(url.Values)
		want  string
	}{
		"missing":                {asIs, withoutParams("scope"), "invoices:read invoices:write customers:read"},
		"empty":                  {asIs, withParam("scope", ""), "invoices:read invoices:write customers:read"},
		"spaces alone":           {asIs, withParam("scope", "  "), "invoices:read invoices:write customers:read"},
		"some, and many spaces":  {asIs, withParam("scope", "  customers:read   invoices:read "), "customers:read invoices:read"},
		"never internal scopes":  {withInternal, withoutParams("scope"), "invoices:read customers:read"},
		"those of registration":  {byDefault, withoutParams("scope"), "customers:read"},
		"others than registered": {byDefault, withParam("scope", "invoices:read"), "invoices:read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			app := e.app(t, test.app)
			code := b.submit(b.ask(app, test.scope).wantOK(), "allow").wantCallback(pageCallback).Get("code")
			if got := e.codeScopes(t, code); got != test.want {
				t.Errorf("the code has %q, want %q", got, test.want)
			}
		})
	}
	t.Run("none left", func(t *testing.T) {
		app := e.app(t, func(a *partner.App) { a.Scopes = identity.MustScopes("internal:admin") })
		e.browser(t).signIn("usr_owner", "biz_bakery").ask(app, withoutParams("scope")).
			wantRefusal(http.StatusBadRequest, "Requested scopes not permitted for this client")
	})
	t.Run("through sign-in", func(t *testing.T) {
		b := e.browser(t)
		login, err := url.Parse(b.ask(e.app(t), withoutParams("scope")).location)
		if err != nil {
			t.Fatal(err)
		}
		returnTo := login.Query().Get("return_to")
		b.signIn("usr_owner", "biz_bakery")
		b.get(returnTo).wantOK()
	})
	t.Run("malformed", func(t *testing.T) {
		e.browser(t).signIn("usr_owner", "biz_bakery").ask(e.app(t), withParam("scope", "a\tb")).
			wantRefusal(http.StatusBadRequest, "invalid_request: scope is not a list of scopes with spaces between them")
	})
}

// META-08: the step up of an app whose registered scopes are a default reaches the token, and
// what the console takes from the app is gone from its default too (TOK-10, API-03).
func TestStepUp(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, openRegistration, asDefault)
	registered := k.register(`{"client_name":"Agent","redirect_uris":["` + apiRedirect + `"],"token_endpoint_auth_method":"none","scope":"invoices:read"}`)
	clientID := registered.text("client_id")
	access := k.token(withBasic(clientID, ""), "grant_type", "authorization_code", "code", k.code(clientID, apiChallenge),
		"redirect_uri", apiRedirect, "code_verifier", apiVerifier).text("access_token")
	token, err := k.OAuth.VerifyAccessToken(t.Context(), access)
	k.Must(err)
	if !token.Scopes.Equal(apiScopes()) { // which has more than invoices:read
		t.Errorf("TOK-10: %v", token.Scopes)
	}
	narrow := identity.MustScopes("customers:read")
	if _, err := k.OAuth.UpdateApp(t.Context(), k.app(clientID).ID, oauthserver.AppChange{Scopes: &narrow}); err != nil {
		t.Fatal(err)
	}
	token, err = k.OAuth.VerifyAccessToken(t.Context(), access)
	if err != nil || !token.Scopes.Equal(narrow) {
		t.Errorf("API-03: %v, %v", token.Scopes, err)
	}
	var metadata map[string]any
	k.Must(json.Unmarshal([]byte(k.app(clientID).Metadata), &metadata))
	if metadata["scope"] != "invoices:read" {
		t.Errorf("%v", metadata)
	}
	got := k.post("/oauth/device/authorize", withBasic(clientID, ""))
	device, err := k.Store.DeviceByUserCode(t.Context(), got.text("user_code"))
	if err != nil || !device.Scopes.Equal(narrow) {
		t.Errorf("the default after the console's change: %v, %v", device.Scopes, err)
	}
}

// META-08, AZ-05: the port of a loopback redirect URI may differ for the apps that the option
// selects.
func TestLoopbackPorts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ports      oauthserver.LoopbackPorts
		origin     partner.AppOrigin
		registered string
		presented  string
		fine       bool
	}{
		"AZ-05 documents by default":       {"", partner.OriginDocument, "http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", true},
		"AZ-05 registered by default":      {"", partner.OriginRegistered, "http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", false},
		"AZ-05 off":                        {oauthserver.LoopbackPortsOff, partner.OriginDocument, "http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", false},
		"META-08 registered":               {oauthserver.LoopbackPortsAll, partner.OriginRegistered, "http://localhost:3000/cb", "http://localhost:5000/cb", true},
		"META-08 console":                  {oauthserver.LoopbackPortsAll, partner.OriginConsole, "http://[::1]:3000/cb", "http://[::1]:5000/cb", true},
		"META-08 another path":             {oauthserver.LoopbackPortsAll, partner.OriginRegistered, "http://localhost:3000/cb", "http://localhost:5000/x", false},
		"META-08 not of the web":           {oauthserver.LoopbackPortsAll, partner.OriginRegistered, "https://a.example/cb", "https://a.example:5000/cb", false},
		"META-08 another name of loopback": {oauthserver.LoopbackPortsAll, partner.OriginRegistered, "http://localhost/cb", "http://127.0.0.1:5000/cb", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t, func(c *oauthserver.Config) { c.LoopbackPorts = test.ports })
			app := e.app(t, func(a *partner.App) {
				a.Origin, a.RedirectURIs = test.origin, []string{test.registered}
				if test.origin == partner.OriginDocument {
					a.ClientID, a.Type = toolURL, partner.Public
				}
			})
			p := e.browser(t).signIn("usr_owner", "biz_bakery").ask(app, withParam("redirect_uri", test.presented))
			if test.fine {
				p.wantOK()
			} else {
				p.wantRefusal(http.StatusBadRequest, "redirect_uri does not match any registered URI")
			}
		})
	}
}

// New refuses options that make no sense, and names them.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	good := newDocumentHarness(t, nil).cfg
	for name, test := range map[string]struct {
		change func(*oauthserver.Options)
		want   string
	}{
		"LoopbackPorts":    {func(o *oauthserver.Options) { o.LoopbackPorts = "some" }, "LoopbackPorts"},
		"javascript":       {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{"cursor", "javascript"} }, "javascript"},
		"data":             {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{"data"} }, "data"},
		"http":             {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{"http"} }, "http"},
		"capitals":         {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{"Cursor"} }, "Cursor"},
		"colon":            {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{"cursor:"} }, "cursor:"},
		"no scheme":        {func(o *oauthserver.Options) { o.PrivateUseSchemes = []string{""} }, "PrivateUseSchemes"},
		"pinned elsewhere": {func(o *oauthserver.Options) { o.Documents.Pinned = map[string][]byte{"https://tool.example": nil} }, "tool.example"},
		"pinned and invalid": {func(o *oauthserver.Options) {
			o.Documents.Pinned = map[string][]byte{toolURL: []byte(`{"client_id":"https://tool.example/other"}`)}
		}, toolURL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			test.change(&cfg.Options)
			if _, err := oauthserver.New(cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want an error with %q", err, test.want)
			}
		})
	}
}
