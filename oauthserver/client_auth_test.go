package oauthserver_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

func rawBasic(text string) apiRequest {
	return withHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
}

// passed is the response of the first step behind client authentication.
func (a apiResponse) passed() {
	a.Helper()
	a.refused(http.StatusBadRequest, "unsupported_grant_type", "")
}

// TOK-01: every method of client authentication.
func TestClientAuthentication(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.addApp("cli:with a%colon", partner.Confidential)
	for name, test := range map[string]struct {
		change apiRequest
		form   []string
	}{
		"Basic":                          {withBasic(confidentialID, apiSecret), nil},
		"Basic, raw":                     {rawBasic(confidentialID + ":" + apiSecret), nil},
		"Basic, form-encoded":            {withBasic("cli:with a%colon", apiSecret), nil},
		"Basic, scheme in lower case":    {withHeader("Authorization", "basic "+base64.StdEncoding.EncodeToString([]byte(confidentialID+":"+apiSecret))), nil},
		"Basic and the same client_id":   {withBasic(confidentialID, apiSecret), []string{"client_id", confidentialID}},
		"Basic and an empty secret":      {withBasic(confidentialID, apiSecret), []string{"client_secret", ""}},
		"body":                           {nil, []string{"client_id", confidentialID, "client_secret", apiSecret}},
		"body beside another scheme":     {withHeader("Authorization", "Bearer x"), []string{"client_id", confidentialID, "client_secret", apiSecret}},
		"id in Basic, secret in body":    {withBasic(confidentialID, ""), []string{"client_secret", apiSecret}},
		"public, body":                   {nil, []string{"client_id", publicID}},
		"public, body, empty secret":     {nil, []string{"client_id", publicID, "client_secret", ""}},
		"public, Basic, empty secret":    {withBasic(publicID, ""), nil},
		"public, Basic, and in the body": {withBasic(publicID, ""), []string{"client_id", publicID}},
	} {
		t.Run(name, func(t *testing.T) {
			k.token(test.change, append(test.form, "grant_type", "x")...).passed()
		})
	}
}

// TOK-01: what contradicts itself, or stands where it must not.
func TestClientCredentialsContradict(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for name, test := range map[string]struct {
		path   string
		change apiRequest
		form   []string
	}{ // each would otherwise get beyond the credentials
		"secret in both places":  {"/oauth/token", withBasic(confidentialID, apiSecret), []string{"client_secret", apiSecret}},
		"client_ids differ":      {"/oauth/token", withBasic(confidentialID, apiSecret), []string{"client_id", publicID}},
		"secret in the query":    {"/oauth/token?client_secret=" + apiSecret, nil, []string{"client_id", confidentialID}},
		"client_id in the query": {"/oauth/token?client_id=" + publicID, nil, nil},
		"in the query and right": {"/oauth/token?client_id=" + confidentialID, withBasic(confidentialID, apiSecret), nil},
		"in the query, percent":  {"/oauth/token?client%5Fsecret=x", nil, []string{"client_id", publicID}},
		"client_id repeated":     {"/oauth/token", nil, []string{"client_id", publicID, "client_id", publicID}},
		"client_secret repeated": {"/oauth/token", nil, []string{"client_id", confidentialID, "client_secret", apiSecret, "client_secret", apiSecret}},
		"revoke, in the query":   {"/oauth/revoke?client_id=" + publicID, nil, []string{"token", "x"}},
		"revoke, secret in both": {"/oauth/revoke", withBasic(confidentialID, apiSecret), []string{"client_secret", apiSecret, "token", "x"}},
		"device, secret in both": {"/oauth/device/authorize", withBasic(confidentialID, apiSecret), []string{"client_secret", apiSecret}},
		"grant_type twice":       {"/oauth/token", withBasic(confidentialID, apiSecret), []string{"grant_type", "x", "grant_type", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			form := test.form
			if name != "grant_type twice" {
				form = append([]string{"grant_type", "x"}, form...)
			}
			k.post(test.path, test.change, form...).refused(http.StatusBadRequest, "invalid_request", "*")
		})
	}
}

// TOK-04, OERR-02: 401 for each, with a challenge when, and only when, Basic was
// used.
func TestClientRefused(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.Service = "Ledger \"One\"" })
	suspended, deactivated := k.addApp("cli_suspended", partner.Confidential), k.addApp("cli_deactivated", partner.Confidential)
	k.Must(k.OAuth.SetAppStatus(t.Context(), suspended.ID, partner.AppSuspended))
	k.Must(k.OAuth.SetAppStatus(t.Context(), deactivated.ID, partner.AppDeactivated))
	for name, test := range map[string]struct {
		change    apiRequest
		form      []string
		challenge bool
	}{
		"nothing":              {nil, nil, false},
		"empty client_id":      {nil, []string{"client_id", ""}, false},
		"secret alone":         {nil, []string{"client_secret", apiSecret}, false},
		"another scheme":       {withHeader("Authorization", "Bearer x"), nil, false},
		"unknown":              {nil, []string{"client_id", "cli_nobody"}, false},
		"unknown, secret":      {nil, []string{"client_id", "cli_nobody", "client_secret", apiSecret}, false},
		"unknown, Basic":       {withBasic("cli_nobody", apiSecret), nil, true},
		"case of the id":       {withBasic(strings.ToUpper(confidentialID), apiSecret), nil, true},
		"no secret":            {nil, []string{"client_id", confidentialID}, false},
		"no secret, Basic":     {withBasic(confidentialID, ""), nil, true},
		"wrong secret":         {nil, []string{"client_id", confidentialID, "client_secret", apiSecret + "x"}, false},
		"wrong secret, Basic":  {withBasic(confidentialID, "x"), nil, true},
		"digest as secret":     {withBasic(confidentialID, string(secret.DigestOf(apiSecret).Bytes())), nil, true},
		"public with a secret": {withBasic(publicID, "x"), nil, true},
		"public, secret, body": {nil, []string{"client_id", publicID, "client_secret", apiSecret}, false},
		"suspended":            {withBasic("cli_suspended", apiSecret), nil, true},
		"deactivated":          {withBasic("cli_deactivated", apiSecret), nil, true},
		"Basic, empty":         {withHeader("Authorization", "Basic"), nil, true},
		"Basic, no base64":     {withHeader("Authorization", "Basic !"), nil, true},
		"Basic, line break": {func(r *http.Request) {
			k.as(confidentialID)(r)
			text := r.Header.Get("Authorization")
			r.Header.Set("Authorization", text[:12]+"\n"+text[12:])
		}, nil, true},
		"Basic, no colon":      {rawBasic(confidentialID), nil, true},
		"Basic, no id":         {rawBasic(":" + apiSecret), nil, true},
		"Basic, bad percent":   {rawBasic(confidentialID + ":%zz"), nil, true},
		"Basic, no UTF-8":      {rawBasic("\xff:x"), nil, true},
		"Basic, NUL":           {rawBasic("a%00b:x"), nil, true},
		"Basic, body is right": {rawBasic("x"), []string{"client_id", publicID}, true},
		"Basic sent twice": {func(r *http.Request) {
			k.as(confidentialID)(r)
			r.Header["Authorization"] = append(r.Header["Authorization"], "Bearer x")
		}, nil, true},
		"metadata URL, no such": {nil, []string{"client_id", "http://example.com/not-a-document"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.token(test.change, append(test.form, "grant_type", "authorization_code")...)
			got.refused(http.StatusUnauthorized, "invalid_client", "client authentication failed")
			want := ""
			if test.challenge {
				want = `Basic realm="Ledger \"One\""`
			}
			if challenge := got.Header.Get("WWW-Authenticate"); challenge != want {
				t.Errorf("challenge %q, want %q", challenge, want)
			}
		})
	}
}

// TOK-04, APP-01: every grant of a suspended app, though each would succeed; a
// failed client authentication consumes nothing (TOK-01), and lifting the
// suspension makes all of them work.
func TestClientSuspended(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	app := k.app(confidentialID)
	code, device := k.code(confidentialID, apiChallenge), ""
	access, refresh := k.tokens(confidentialID)
	device, user := k.newDevice(confidentialID)
	k.approveDevice(user)
	grants := map[string]func() apiResponse{
		"code":     func() apiResponse { return k.redeem(confidentialID, code) },
		"refresh":  func() apiResponse { return k.refresh(confidentialID, refresh) },
		"device":   func() apiResponse { return k.poll(confidentialID, device) },
		"exchange": func() apiResponse { return k.exchange(sessionToken("1")) },
	}
	k.Must(k.OAuth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
	for _, grant := range grants {
		grant().refused(http.StatusUnauthorized, "invalid_client", "*")
	}
	k.token(withBasic(confidentialID, apiSecret), "grant_type", "x").refused(http.StatusUnauthorized, "invalid_client", "*") // before its grant is checked
	if k.isLive(access) {
		t.Error("APP-01: a token of a suspended app is live")
	}
	k.Must(k.OAuth.SetAppStatus(t.Context(), app.ID, partner.AppActive))
	if !k.isLive(access) {
		t.Error("APP-01: a live token does not work again")
	}
	for name, grant := range grants {
		if got := grant(); got.Status != http.StatusOK {
			t.Errorf("%s afterwards: %d %s", name, got.Status, got.Body)
		}
	}
}

// APP-02: two secrets may be valid; one that has ended is wrong.
func TestClientSecretsRotate(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	app := k.app(confidentialID)
	k.Must(fixture.AddSecret(t.Context(), k.Store, partner.ClientSecret{
		ID: id.New(id.Secret, harness.Start), AppID: app.ID, Digest: secret.DigestOf("second"), Prefix: "sec", CreatedAt: harness.Start,
	}))
	k.token(withBasic(confidentialID, apiSecret), "grant_type", "x").passed()
	k.token(withBasic(confidentialID, "second"), "grant_type", "x").passed()
	secrets, err := k.Store.ClientSecrets(t.Context(), app.ID)
	k.Must(err)
	k.Must(k.OAuth.EndClientSecret(t.Context(), app.ID, secrets[0].ID))
	used := 0
	for _, text := range []string{apiSecret, "second"} {
		if k.token(withBasic(confidentialID, text), "grant_type", "x").Status == http.StatusBadRequest {
			used++
		}
	}
	if used != 1 {
		t.Errorf("%d of two secrets work after one ended", used)
	}
}

// TOK-03, TOK-05, TOK-06: what is missing or malformed, by name.
func TestTokenParameters(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	const device = "urn:ietf:params:oauth:grant-type:device_code"
	long := strings.Repeat("x", 513)
	for name, test := range map[string]struct {
		form        []string
		code        string
		description string
	}{
		"no grant_type":         {nil, "invalid_request", "grant_type is missing"},
		"empty grant_type":      {[]string{"grant_type", ""}, "invalid_request", "grant_type is missing"},
		"long grant_type":       {[]string{"grant_type", long}, "invalid_request", "grant_type is malformed"},
		"grant_type twice":      {[]string{"grant_type", "refresh_token", "grant_type", "refresh_token"}, "invalid_request", "grant_type is given more than once"},
		"other grant_type":      {[]string{"grant_type", "password"}, "unsupported_grant_type", ""},
		"client_credentials":    {[]string{"grant_type", "client_credentials"}, "unsupported_grant_type", ""},
		"grant_type, case":      {[]string{"grant_type", "Refresh_Token"}, "unsupported_grant_type", ""},
		"no code":               {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect}, "invalid_request", "code is missing"},
		"long code":             {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect, "code", long}, "invalid_request", "code is malformed"},
		"code, not ASCII":       {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect, "code", "ü"}, "invalid_request", "code is malformed"},
		"code, newline":         {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect, "code", "a\n"}, "invalid_request", "code is malformed"},
		"code twice":            {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect, "code", "a", "code", "b"}, "invalid_request", "code is given more than once"},
		"code of unknown form":  {[]string{"grant_type", "authorization_code", "redirect_uri", apiRedirect, "code", long[:512]}, "invalid_grant", ""},
		"no redirect_uri":       {[]string{"grant_type", "authorization_code", "code", "x"}, "invalid_request", "redirect_uri is missing"},
		"long redirect_uri":     {[]string{"grant_type", "authorization_code", "code", "x", "redirect_uri", long}, "invalid_request", "redirect_uri is malformed"},
		"no refresh_token":      {[]string{"grant_type", "refresh_token"}, "invalid_request", "refresh_token is missing"},
		"empty refresh_token":   {[]string{"grant_type", "refresh_token", "refresh_token", ""}, "invalid_request", "refresh_token is missing"},
		"long refresh_token":    {[]string{"grant_type", "refresh_token", "refresh_token", long}, "invalid_request", "refresh_token is malformed"},
		"no device_code":        {[]string{"grant_type", device}, "invalid_request", "device_code is missing"},
		"long device_code":      {[]string{"grant_type", device, "device_code", long}, "invalid_request", "device_code is malformed"},
		"unknown one, twice":    {[]string{"grant_type", "x", "other", "1", "other", "2"}, "invalid_request", "other is given more than once"},
		"resource":              {[]string{"grant_type", "x", "resource", "https://evil.example.com"}, "invalid_target", "*"},
		"resource, relative":    {[]string{"grant_type", "x", "resource", "/invoices"}, "invalid_target", "*"},
		"resource, empty":       {[]string{"grant_type", "x", "resource", ""}, "invalid_target", "*"},
		"resource, fragment":    {[]string{"grant_type", "x", "resource", apiOrigin + "/#"}, "invalid_target", "*"},
		"resource, user info":   {[]string{"grant_type", "x", "resource", "https://a@api.example.com/"}, "invalid_target", "*"},
		"resource, http":        {[]string{"grant_type", "x", "resource", "http://api.example.com/"}, "invalid_target", "*"},
		"resource, port":        {[]string{"grant_type", "x", "resource", apiOrigin + ":8443"}, "invalid_target", "*"},
		"resource, app host":    {[]string{"grant_type", "x", "resource", appOrigin}, "invalid_target", "*"},
		"TOK-06 resource, long": {[]string{"grant_type", "x", "resource", apiOrigin + "/" + long + long}, "unsupported_grant_type", ""},
		"resource twice":        {[]string{"grant_type", "x", "resource", apiOrigin, "resource", apiOrigin}, "invalid_target", "*"},
		"resource, good":        {[]string{"grant_type", "x", "resource", apiOrigin}, "unsupported_grant_type", ""},
		"resource, good, path":  {[]string{"grant_type", "x", "resource", apiOrigin + ":443/any/path?and=query"}, "unsupported_grant_type", ""},
		"resource before grant": {[]string{"resource", "x"}, "invalid_target", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			k.token(k.as(confidentialID), test.form...).refused(http.StatusBadRequest, test.code, test.description)
		})
	}
}

// OERR-03: bodies that cannot be read, at each endpoint that takes a form.
func TestUnreadableForms(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/device/authorize"} {
		for name, send := range map[string]func() apiResponse{
			"too large":       func() apiResponse { return k.post(path, k.as(confidentialID), "x", strings.Repeat("x", 64<<10)) },
			"content type":    func() apiResponse { return k.send("POST", path, "a=b", withHeader("Content-Type", "text/plain")) },
			"no content type": func() apiResponse { return k.send("POST", path, "a=b") },
			"bad percent": func() apiResponse {
				return k.send("POST", path, "a=%zz", withHeader("Content-Type", "application/x-www-form-urlencoded"))
			},
			"semicolon": func() apiResponse {
				return k.send("POST", path, "a=b;c", withHeader("Content-Type", "application/x-www-form-urlencoded"))
			},
			"NUL":       func() apiResponse { return k.post(path, nil, "client_id", "a\x00") },
			"not UTF-8": func() apiResponse { return k.post(path, nil, "client_id", "\xff") },
			"gzip":      func() apiResponse { return k.post(path, withHeader("Content-Encoding", "gzip")) },
		} {
			t.Run(path+" "+name, func(t *testing.T) { send().refused(http.StatusBadRequest, "invalid_request", "*") })
		}
	}
}
