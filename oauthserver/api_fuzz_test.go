package oauthserver_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// unlimited is a configuration without rate limits.
func unlimited(c *oauthserver.Config) { c.Limiter = allowAll{} }

type allowAll struct{}

func (allowAll) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

func (allowAll) Fail(context.Context, time.Time, ratelimit.Lockouts) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

func (allowAll) Forgive(context.Context, time.Time, ratelimit.Lockouts) error { return nil }

// in is the harness for one run of a fuzz target.
func (k *apiHarness) in(t *testing.T) *apiHarness {
	changed := *k
	changed.Harness = k.In(t)
	return &changed
}

// FuzzRedirectURI checks that an accepted URI leads to an https address or to this machine,
// and to one place only (REG-01).
func FuzzRedirectURI(f *testing.F) {
	for _, seed := range []string{
		"https://a.example.com/cb", "http://localhost:1/", "http://127.0.0.1", "http://[::1]:8080/cb", "http://127.0.0.1.example.com", "https://a@b", "https://a\\@b",
		"https://a/?", "https://a/#", "https://*.a", "javascript:x", "https:a", "https:///a", "HTTPS://a", "http://LOCALHOST", "https://a:b@c/", "https://a/%23",
		"http://[::ffff:127.0.0.1]/", "http://[::1%25eth0]/", "http://2130706433/", "http://0x7f.1/", "https://a:99999999/", "https://a b/", "https://\u212a.com/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if (oauthserver.RedirectRules{}).Problem(raw) != "" {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || len(raw) > 512 || strings.ContainsAny(raw, "?#*@\\ \t\r\n<>\"") && !strings.Contains(u.Path, "@") {
			t.Fatalf("accepted %q", raw)
		}
		loopback := strings.EqualFold(u.Hostname(), "localhost")
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() {
			loopback = true
		}
		if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
			t.Fatalf("accepted %q", raw)
		}
		for _, r := range raw {
			if r <= ' ' || r > '~' {
				t.Fatalf("accepted %q", raw)
			}
		}
	})
}

// FuzzBasic checks that only a header with the secret is accepted (TOK-01), and that no
// header causes an internal error.
func FuzzBasic(f *testing.F) {
	encode := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, seed := range []string{
		"", "Basic", "Basic ", "Bearer x", "basic =", encode(confidentialID + ":" + apiSecret), encode(publicID + ":"), encode(":"), encode("a:b:c"),
		encode("%00:x"), encode("\xff:"), encode(confidentialID + ":%61" + apiSecret[1:]), "Basic \x00", encode(publicID), encode(confidentialID + "+:x"),
		encode(publicID+":") + "0",
	} {
		f.Add(seed)
	}
	k := newAPIHarness(f, unlimited)
	f.Fuzz(func(t *testing.T, header string) {
		k := k.in(t)
		if strings.ContainsAny(header, "\r\n") {
			return // no server hands those on
		}
		got := k.token(func(r *http.Request) { r.Header.Set("Authorization", header) }, "grant_type", "x")
		var id, text string
		if scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " "); strings.EqualFold(scheme, "Basic") {
			decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
			if err != nil {
				decoded = nil // also what came before the mistake
			}
			id, text, _ = strings.Cut(string(decoded), ":")
			id, _ = url.QueryUnescape(id)
			text, _ = url.QueryUnescape(text)
			if !strings.Contains(string(decoded), ":") {
				id = ""
			}
		}
		right := id == confidentialID && text == apiSecret || id == publicID && text == ""
		switch {
		case got.Status == http.StatusBadRequest && got.text("error") == "unsupported_grant_type" && right:
		case got.Status == http.StatusUnauthorized && !right:
		default:
			t.Fatalf("%q: %d %s", header, got.Status, got.Body)
		}
	})
}

// FuzzVerifier: only the verifier itself redeems a code, and another verifier uses it up
// (CODE-04, CODE-05).
func FuzzVerifier(f *testing.F) {
	for _, seed := range []string{apiVerifier, apiChallenge, "", apiVerifier + "x", apiVerifier + "=", strings.Repeat("~", 128), strings.Repeat("a", 129), apiVerifier[:42] + "\n", "\x00"} {
		f.Add(seed)
	}
	k := newAPIHarness(f, unlimited)
	syntax := regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
	code := k.code(publicID, apiChallenge)
	f.Fuzz(func(t *testing.T, verifier string) {
		k := k.in(t)
		got := k.token(k.as(publicID), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect, "code_verifier", verifier)
		want := "invalid_request"
		switch {
		case verifier == apiVerifier:
			code, want = k.code(publicID, apiChallenge), ""
		case syntax.MatchString(verifier):
			code, want = k.code(publicID, apiChallenge), "invalid_grant"
		}
		if got.text("error") != want || got.text("error_description") == "code already used" {
			t.Fatalf("%q: %d %s", verifier, got.Status, got.Body)
		}
	})
}

// FuzzRegister: every registered client obeys the rules, and no input causes an internal
// error (REG-01 to REG-03).
func FuzzRegister(f *testing.F) {
	for _, seed := range []string{
		`{"client_name":"A","redirect_uris":["https://a.example.com/"]}`, `{`, `null`, `{"redirect_uris":null}`, `{"redirect_uris":[[]],"client_name":{}}`,
		`{"client_name":"A","redirect_uris":["https://a.example.com/"],"scope":"internal:admin"}`, `{"client_name":"\u0000","redirect_uris":["https://a"]}`,
		`{"client_name":"A","redirect_uris":["http://localhost"],"token_endpoint_auth_method":"none","grant_types":["x","refresh_token"],"contacts":["a"]}`,
		`{"client_name":"A","redirect_uris":["https://a"],"logo_uri":"javascript:1"}`, `{"client_name":"A","client_Name":"B","redirect_uris":["https://a"]}`,
	} {
		f.Add(seed)
	}
	k := newAPIHarness(f, unlimited, openRegistration)
	f.Fuzz(func(t *testing.T, body string) {
		k := k.in(t)
		got := k.register(body)
		if got.Status == http.StatusBadRequest {
			return
		}
		var response struct {
			URIs  []string `json:"redirect_uris"`
			Name  string   `json:"client_name"`
			Scope string   `json:"scope"`
		}
		if err := json.Unmarshal([]byte(got.Body), &response); err != nil || got.Status != http.StatusCreated {
			t.Fatalf("%q: %d %s, %v", body, got.Status, got.Body, err)
		}
		scopes, err := identity.ParseScopes(response.Scope)
		if err != nil || identity.DefaultScopes().CheckRequestable(scopes) != nil || strings.TrimSpace(response.Name) == "" || len(response.URIs) == 0 || len(response.URIs) > 5 {
			t.Fatalf("%q registered %s", body, got.Body)
		}
		for _, uri := range response.URIs {
			if (oauthserver.RedirectRules{}).Problem(uri) != "" {
				t.Fatalf("%q registered %s", body, got.Body)
			}
		}
	})
}

// FuzzResource: only absolute URIs on the API origin pass (TOK-06).
func FuzzResource(f *testing.F) {
	for _, seed := range []string{
		apiOrigin, apiOrigin + "/x?y", "https://API.example.com", apiOrigin + ":443", apiOrigin + ".evil.com", "https://api.example.com@evil.com", "https://evil.com\\@api.example.com",
		"//api.example.com", "https:api.example.com", "https://api.example.com#", "", " " + apiOrigin, apiOrigin + "\n", "https://api.example.com:0443", "https://api.exam\u212ale.com", apiOrigin + "/a b",
	} {
		f.Add(seed)
	}
	k := newAPIHarness(f, unlimited)
	origin := regexp.MustCompile(`(?i)^https://api\.example\.com(:443|:)?([/?][!-~]*)?$`)
	f.Fuzz(func(t *testing.T, resource string) {
		k := k.in(t)
		got := k.token(k.as(publicID), "grant_type", "x", "resource", resource)
		switch code := got.text("error"); {
		case code == "invalid_target", code == "invalid_request": // the latter for what no form can hold
		case code == "unsupported_grant_type" && origin.MatchString(resource) && !strings.Contains(resource, "#"):
		default:
			t.Fatalf("%q: %d %s", resource, got.Status, got.Body)
		}
	})
}
