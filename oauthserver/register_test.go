package oauthserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func openRegistration(c *oauthserver.Config) {
	c.Registration = func(*http.Request) (string, error) { return "org_1", nil }
}

func (k *apiHarness) register(body string, changes ...apiRequest) apiResponse {
	k.Helper()
	return k.postJSON("/oauth/register", body, changes...)
}

const allRequestable = "profile:read events:read invoices:read invoices:write customers:read customers:write payments:read payments:write " +
	"accounts:read accounts:write journal:read journal:write suppliers:read suppliers:write"

// REG-02, REG-04: defaults and everything that can be said, as registered.
func TestRegister(t *testing.T) {
	t.Parallel()
	full := map[string]any{
		"redirect_uris": []any{apiRedirect, "http://127.0.0.1/cb"}, "client_name": "Ünï", "token_endpoint_auth_method": "client_secret_post",
		"grant_types": []any{"refresh_token", "urn:ietf:params:oauth:grant-type:device_code"}, "response_types": []any{"code"},
		"scope": "customers:read invoices:read", "client_uri": "https://a.example.com/", "logo_uri": "https://a.example.com/l.png",
		"tos_uri": "https://a.example.com/t", "policy_uri": "https://a.example.com/p", "contacts": []any{"a@example.com"},
		"software_id": "x", "software_version": "1",
	}
	for name, test := range map[string]struct {
		body         string
		want         map[string]any
		confidential bool
	}{
		"defaults": {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"A"}`, map[string]any{
			"redirect_uris": []any{apiRedirect}, "client_name": "A", "token_endpoint_auth_method": "client_secret_basic",
			"grant_types": []any{"authorization_code"}, "response_types": []any{"code"}, "scope": allRequestable,
		}, true},
		"public, unknown and null members": {`{"redirect_uris":["http://localhost:8080/cb"],"client_name":"A","token_endpoint_auth_method":"none",
			"other":{"a":[1]},"Client_name":"B","scope":null,"logo_uri":null}`, map[string]any{
			"redirect_uris": []any{"http://localhost:8080/cb"}, "client_name": "A", "token_endpoint_auth_method": "none",
			"grant_types": []any{"authorization_code"}, "response_types": []any{"code"}, "scope": allRequestable,
		}, false},
		"AZ-18 scope of spaces alone": {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"A","scope":"  "}`, map[string]any{
			"redirect_uris": []any{apiRedirect}, "client_name": "A", "token_endpoint_auth_method": "client_secret_basic",
			"grant_types": []any{"authorization_code"}, "response_types": []any{"code"}, "scope": allRequestable,
		}, true},
		"everything": {`{"redirect_uris":["` + apiRedirect + `","http://127.0.0.1/cb"],"client_name":"Ünï","token_endpoint_auth_method":"client_secret_post",
			"grant_types":["implicit","refresh_token","urn:ietf:params:oauth:grant-type:device_code","refresh_token"],"response_types":["token","code"],
			"scope":" customers:read   invoices:read customers:read ","client_uri":"https://a.example.com/","logo_uri":"https://a.example.com/l.png",
			"tos_uri":"https://a.example.com/t","policy_uri":"https://a.example.com/p","contacts":["a@example.com"],"software_id":"x","software_version":"1"}`, full, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t, openRegistration)
			got := k.register(test.body)
			got.noStore()
			clientID, clientSecret := got.text("client_id"), got.text("client_secret")
			test.want["client_id"], test.want["client_id_issued_at"] = clientID, float64(harness.Start.Unix())
			if test.confidential {
				test.want["client_secret"], test.want["client_secret_expires_at"] = clientSecret, 0.0
			}
			if diff := cmp.Diff(test.want, got.body); diff != "" || got.Status != http.StatusCreated {
				t.Fatalf("%d (-want +got):\n%s", got.Status, diff)
			}
			k.token(withBasic(clientID, clientSecret), "grant_type", "x").passed()
			// REG-05: unreviewed, of the organization that the policy says.
			app := k.app(clientID)
			if app.Reviewed || app.OrganizationID != "org_1" || app.Origin != partner.OriginRegistered || app.Name != test.want["client_name"] ||
				(app.Type == partner.Confidential) != test.confidential || app.Scopes.String() != test.want["scope"] {
				t.Errorf("app %+v", app)
			}
			if test.confidential && !strings.HasPrefix(clientSecret, "pk_cs_") {
				t.Error("TOK-09: the secret has no prefix")
			}
		})
	}
}

// REG-01 to REG-03: each row of the error table.
func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, openRegistration)
	uris := func(list string) string { return `{"client_name":"A","redirect_uris":` + list + `}` }
	with := func(members string) string {
		return `{"client_name":"A","redirect_uris":["` + apiRedirect + `"],` + members + `}`
	}
	for name, test := range map[string]struct{ body, code string }{
		"no redirect_uris":         {`{"client_name":"A"}`, "invalid_redirect_uri"},
		"null":                     {uris(`null`), "invalid_redirect_uri"},
		"no list":                  {uris(`"https://a.example.com/"`), "invalid_redirect_uri"},
		"empty list":               {uris(`[]`), "invalid_redirect_uri"},
		"six":                      {uris(`["https://a.example.com/1","https://a.example.com/2","https://a.example.com/3","https://a.example.com/4","https://a.example.com/5","https://a.example.com/6"]`), "invalid_redirect_uri"},
		"numbers":                  {uris(`[1]`), "invalid_redirect_uri"},
		"null in it":               {uris(`[null]`), "invalid_redirect_uri"},
		"long":                     {uris(`["https://a.example.com/` + strings.Repeat("x", 491) + `"]`), "invalid_redirect_uri"},
		"http":                     {uris(`["http://a.example.com/"]`), "invalid_redirect_uri"},
		"REG-01 port 0":            {uris(`["http://127.0.0.1:0/cb"]`), "invalid_redirect_uri"},
		"REG-01 leading zero":      {uris(`["http://127.0.0.1:05000/cb"]`), "invalid_redirect_uri"},
		"REG-01 port 99999":        {uris(`["http://127.0.0.1:99999/cb"]`), "invalid_redirect_uri"},
		"REG-01 https, zero":       {uris(`["https://app.example.com:0443/cb"]`), "invalid_redirect_uri"},
		"REG-02 client_uri, port":  {with(`"client_uri":"https://a.example.com:99999/"`), "invalid_client_metadata"},
		"http, like loopback":      {uris(`["http://127.0.0.1.example.com/"]`), "invalid_redirect_uri"},
		"wildcard":                 {uris(`["https://*.example.com/"]`), "invalid_redirect_uri"},
		"wildcard in the path":     {uris(`["https://a.example.com/*"]`), "invalid_redirect_uri"},
		"query":                    {uris(`["https://a.example.com/?a=b"]`), "invalid_redirect_uri"},
		"empty query":              {uris(`["https://a.example.com/?"]`), "invalid_redirect_uri"},
		"fragment":                 {uris(`["https://a.example.com/#a"]`), "invalid_redirect_uri"},
		"empty fragment":           {uris(`["https://a.example.com/#"]`), "invalid_redirect_uri"},
		"user info":                {uris(`["https://a@a.example.com/"]`), "invalid_redirect_uri"},
		"javascript":               {uris(`["javascript:alert(1)"]`), "invalid_redirect_uri"},
		"data":                     {uris(`["data:text/html,x"]`), "invalid_redirect_uri"},
		"private scheme":           {uris(`["com.example.app:/cb"]`), "invalid_redirect_uri"},
		"one of two":               {uris(`["https://a.example.com/","http://a.example.com/"]`), "invalid_redirect_uri"},
		"very many URIs, ERR-04":   {uris(`[1` + strings.Repeat(",1", 30_000) + `]`), "invalid_redirect_uri"},
		"very many contacts":       {with(`"contacts":[1` + strings.Repeat(",1", 30_000) + `]`), "invalid_client_metadata"},
		"very many grant types":    {with(`"grant_types":[1` + strings.Repeat(",1", 30_000) + `]`), "invalid_client_metadata"},
		"no name":                  {`{"redirect_uris":["` + apiRedirect + `"]}`, "invalid_client_metadata"},
		"empty name":               {`{"redirect_uris":["` + apiRedirect + `"],"client_name":""}`, "invalid_client_metadata"},
		"blank name":               {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"  "}`, "invalid_client_metadata"},
		"long name":                {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"` + strings.Repeat("ü", 121) + `"}`, "invalid_client_metadata"},
		"name, newline":            {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"a\nb"}`, "invalid_client_metadata"},
		"name, turned around":      {`{"redirect_uris":["` + apiRedirect + `"],"client_name":"a\u202eb"}`, "invalid_client_metadata"},
		"name, number":             {`{"redirect_uris":["` + apiRedirect + `"],"client_name":1}`, "invalid_client_metadata"},
		"auth method":              {with(`"token_endpoint_auth_method":"private_key_jwt"`), "invalid_client_metadata"},
		"auth method, type":        {with(`"token_endpoint_auth_method":["none"]`), "invalid_client_metadata"},
		"grant types, none known":  {with(`"grant_types":["implicit"]`), "invalid_client_metadata"},
		"grant types, empty":       {with(`"grant_types":[]`), "invalid_client_metadata"},
		"grant types, type":        {with(`"grant_types":"authorization_code"`), "invalid_client_metadata"},
		"response types":           {with(`"response_types":["token"]`), "invalid_client_metadata"},
		"scope, internal":          {with(`"scope":"internal:admin"`), "invalid_client_metadata"},
		"scope, unknown":           {with(`"scope":"invoices:read x"`), "invalid_client_metadata"},
		"scope, type":              {with(`"scope":["invoices:read"]`), "invalid_client_metadata"},
		"client_uri, javascript":   {with(`"client_uri":"javascript:alert(1)"`), "invalid_client_metadata"},
		"logo_uri, http":           {with(`"logo_uri":"http://a.example.com/"`), "invalid_client_metadata"},
		"tos_uri, user info":       {with(`"tos_uri":"https://a@b.example.com/"`), "invalid_client_metadata"},
		"policy_uri, long":         {with(`"policy_uri":"https://a.example.com/` + strings.Repeat("x", 512) + `"`), "invalid_client_metadata"},
		"contacts, type":           {with(`"contacts":"a"`), "invalid_client_metadata"},
		"contacts, numbers":        {with(`"contacts":[1]`), "invalid_client_metadata"},
		"software_id, long":        {with(`"software_id":"` + strings.Repeat("x", 256) + `"`), "invalid_client_metadata"},
		"malformed":                {`{`, "invalid_request"},
		"empty":                    {``, "invalid_request"},
		"array":                    {`[]`, "invalid_request"},
		"null body":                {`null`, "invalid_request"},
		"trailing":                 {uris(`["https://a.example.com/"]`) + `{}`, "invalid_request"},
		"member twice":             {`{"client_name":"A","client_name":"B","redirect_uris":["` + apiRedirect + `"]}`, "invalid_request"},
		"too large":                {with(`"x":"` + strings.Repeat("x", 64<<10) + `"`), "invalid_request"},
		"too deep":                 {with(`"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40)), "invalid_request"},
		"NUL":                      {with(`"software_id":"a\u0000"`), "invalid_request"},
		"redirect before metadata": {`{"redirect_uris":[]}`, "invalid_redirect_uri"},
	} {
		t.Run(name, func(t *testing.T) {
			k.Clock.Advance(time.Minute) // beyond the limit of 30
			k.register(test.body).refused(http.StatusBadRequest, test.code, "*")
		})
	}
	k.Clock.Advance(time.Minute)
	k.send("POST", "/oauth/register", uris(`["https://a.example.com/"]`), withHeader("Content-Type", "text/plain")).refused(http.StatusBadRequest, "invalid_request", "*")
	k.post("/oauth/register", nil, "client_name", "A").refused(http.StatusBadRequest, "invalid_request", "*")
	// The edges that pass.
	for _, body := range []string{
		uris(`["https://a.example.com/` + strings.Repeat("x", 490) + `"]`),
		uris(`["https://a/1","http://127.8.9.1:1/","http://[::1]:9/cb","http://localhost","https://a.example.com:8443/2"]`),
		`{"redirect_uris":["` + apiRedirect + `"],"client_name":"` + strings.Repeat("ü", 120) + `"}`,
	} {
		if got := k.register(body); got.Status != http.StatusCreated {
			t.Errorf("%.60s: %d %s", body, got.Status, got.Body)
		}
	}
}

// REG-05: a registration token binds to its organization, once, for 24 hours.
func TestRegistrationToken(t *testing.T) {
	t.Parallel()
	const body = `{"client_name":"A","redirect_uris":["` + apiRedirect + `"]}`
	k := newAPIHarness(t)
	issue := func() string {
		token, _, err := k.OAuth.IssueRegistrationToken(t.Context(), "org_7")
		k.Must(err)
		return token
	}
	token := issue()
	// A registration that fails does not use it up.
	k.register(`{}`, withHeader("Authorization", "Bearer "+token)).refused(http.StatusBadRequest, "invalid_redirect_uri", "*")
	got := k.register(body, withHeader("Authorization", "bearer "+token))
	if got.Status != http.StatusCreated || k.app(got.text("client_id")).OrganizationID != "org_7" {
		t.Errorf("answer %d %s", got.Status, got.Body)
	}
	for name, header := range map[string]string{
		"used": "Bearer " + token, "unknown": "Bearer " + secret.New(secret.RegistrationToken).Reveal(),
		"another kind": "Bearer " + secret.New(secret.AccessToken).Reveal(), "empty": "Bearer", "blank": "Bearer ", "none": "", "Basic": "Basic " + token,
	} {
		t.Run(name, func(t *testing.T) {
			k.register(body, withHeader("Authorization", header)).refused(http.StatusUnauthorized, "invalid_client", "*")
		})
	}
	early, late := issue(), issue()
	k.Clock.Advance(24*time.Hour - time.Second)
	if got := k.register(body, withHeader("Authorization", "Bearer "+early)); got.Status != http.StatusCreated {
		t.Errorf("a second early: %d", got.Status)
	}
	k.Clock.Advance(time.Second)
	k.register(body, withHeader("Authorization", "Bearer "+late)).refused(http.StatusUnauthorized, "invalid_client", "*")
	if _, _, err := k.OAuth.IssueRegistrationToken(t.Context(), ""); err == nil {
		t.Error("a token for no organization")
	}
	// Exactly one of many concurrent requests registers.
	token, won := issue(), 0
	responses := make([]apiResponse, 6)
	testdb.Race(len(responses), func(i int) { responses[i] = k.register(body, withHeader("Authorization", "Bearer "+token)) })
	for _, got := range responses {
		if got.Status == http.StatusCreated {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d registrations with one token", won)
	}
}

// CON-12: what registers for an organization counts as an app of it. A refusal does not use
// the token up.
func TestRegistrationBound_CON12(t *testing.T) {
	t.Parallel()
	const body = `{"client_name":"A","redirect_uris":["` + apiRedirect + `"]}`
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.MaxApps = 2 })
	issue := func(organizationID string) apiRequest {
		token, _, err := k.OAuth.IssueRegistrationToken(t.Context(), organizationID)
		k.Must(err)
		return withHeader("Authorization", "Bearer "+token)
	}
	created, err := k.OAuth.CreateApp(t.Context(), oauthserver.NewApp{
		Name: "A", Type: partner.Public, OrganizationID: "org_7", RedirectURIs: []string{apiRedirect}, Scopes: identity.MustScopes("invoices:read"),
	})
	k.Must(err)
	if got := k.register(body, issue("org_7")); got.Status != http.StatusCreated {
		t.Fatalf("the second app: %d %s", got.Status, got.Body)
	}
	third := issue("org_7")
	for range 2 {
		k.register(body, third).refused(http.StatusBadRequest, "access_denied", "an organization has at most 2 apps")
	}
	if got := k.register(body, issue("org_8")); got.Status != http.StatusCreated {
		t.Errorf("for another organization: %d %s", got.Status, got.Body)
	}
	k.Must(k.OAuth.SetAppStatus(t.Context(), created.App.ID, partner.AppDeactivated))
	if got := k.register(body, third); got.Status != http.StatusCreated {
		t.Errorf("after one was deactivated: %d %s", got.Status, got.Body)
	}
	for _, options := range []oauthserver.Options{{MaxApps: -1}, {MaxRedirectURIs: -1}} {
		cfg := oauthserver.Config{Options: options}
		cfg.Store, cfg.Host, cfg.Keyring, cfg.Pages = k.Store, partnertest.NewHost(), fixture.Keyring(1), pages.New()
		if _, err := oauthserver.New(cfg); err == nil || !strings.Contains(err.Error(), "negative") {
			t.Errorf("New with %d and %d: %v", cfg.MaxApps, cfg.MaxRedirectURIs, err)
		}
	}
}

// REG-05: the policy decides about registrations without a token; with one it is
// not asked.
func TestRegistrationPolicy(t *testing.T) {
	t.Parallel()
	const body = `{"client_name":"A","redirect_uris":["` + apiRedirect + `"]}`
	for name, test := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"refuses": {oauthserver.ErrRegistrationRefused, http.StatusUnauthorized, "invalid_client"},
		"fails":   {errors.New("down"), http.StatusInternalServerError, "server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t, func(c *oauthserver.Config) {
				c.Registration = func(*http.Request) (string, error) { return "", test.err }
			})
			k.register(body).refused(test.status, test.code, "*")
			token, _, err := k.OAuth.IssueRegistrationToken(t.Context(), "org_1")
			k.Must(err)
			if got := k.register(body, withHeader("Authorization", "Bearer "+token)); got.Status != http.StatusCreated {
				t.Errorf("with a token: %d", got.Status)
			}
		})
	}
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		c.Registration = func(*http.Request) (string, error) { return "", nil }
	})
	if got := k.register(body); k.app(got.text("client_id")).OrganizationID != "" {
		t.Error("an app without an organization has one")
	}
}
