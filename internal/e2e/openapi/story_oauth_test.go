package openapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

const (
	syncID, syncSecret = "ledgerlink-sync", "demo-secret-ledgerlink-sync"
	cliID              = "ledgerlink-cli"
	callback           = "http://localhost:9090/callback"
	verifier           = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	allScopes          = "profile:read events:read invoices:read invoices:write customers:read customers:write payments:read payments:write " +
		"accounts:read accounts:write journal:read journal:write suppliers:read suppliers:write"
)

// newcomers are the users of the story, and tokens.
type newcomers struct {
	ada, dev, cleo *http.Client // an owner, a developer, a member elsewhere
	olga, otto     *http.Client // operators
	token          string       // that may do everything
	poor           string       // with profile:read alone
}

func (s *service) newcomers() *newcomers {
	s.dev("/apps/"+syncID+"/scopes", map[string]any{"scopes": strings.Fields(allScopes)})
	n := &newcomers{ada: s.person("usr_ada", "biz_bakery"), dev: s.person("usr_dev", "biz_ledgerlink_sandbox"), cleo: s.person("usr_cleo", "biz_bakery"),
		olga: s.staff("olga"), otto: s.staff("otto")}
	n.token = s.connect(n.ada, allScopes).text("access_token")
	n.poor = s.connect(n.ada, "profile:read").text("access_token")
	return n
}

// authorizeURL asks for consent.
func (s *service) authorizeURL(scope string) string {
	sum := sha256.Sum256([]byte(verifier))
	return s.App + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {syncID}, "redirect_uri": {callback}, "scope": {scope}, "state": {"xyz"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {s.API + "/invoices"},
	}.Encode()
}

// code is what a consent gives.
func (s *service) code(by *http.Client, scope string) string {
	s.t.Helper()
	page := s.do(call{method: "GET", url: s.authorizeURL(scope), as: by, want: 200})
	back := s.do(call{method: "POST", url: s.App + "/oauth/authorize", as: by, form: page.fields("business_id", "biz_bakery", "decision", "allow"), want: 303})
	to, err := url.Parse(back.header.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		s.t.Fatalf("consent led to %q", back.header.Get("Location"))
	}
	return to.Query().Get("code")
}

func (s *service) connect(by *http.Client, scope string) reply {
	s.t.Helper()
	return s.token(200, "grant_type", "authorization_code", "code", s.code(by, scope), "redirect_uri", callback, "code_verifier", verifier)
}

// token redeems a grant as the confidential app.
func (s *service) token(want int, pairs ...string) reply {
	s.t.Helper()
	return s.do(call{method: "POST", url: s.API + "/oauth/token", basic: [2]string{syncID, syncSecret}, form: form(pairs...), want: want})
}

func form(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}

func (s *service) oauth(n *newcomers) {
	post := func(path string, want int, pairs ...string) reply {
		s.t.Helper()
		return s.do(call{method: "POST", url: s.API + "/oauth/" + path, basic: [2]string{syncID, syncSecret}, form: form(pairs...), want: want})
	}
	// Code and refresh, each once and once too often.
	code := s.code(n.ada, "profile:read")
	redeem := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier, "resource", s.API}
	first := s.token(200, redeem...)
	refreshed := s.token(200, "grant_type", "refresh_token", "refresh_token", first.text("refresh_token"))
	post("introspect", 200, "token", refreshed.text("access_token"))
	s.token(400, "grant_type", "refresh_token", "refresh_token", first.text("refresh_token"))
	s.token(400, redeem...)
	s.token(400, "grant_type", "password")
	s.token(400)
	s.token(400, "grant_type", "refresh_token", "refresh_token", "x", "resource", "https://elsewhere.example")
	post("introspect", 200, "token", refreshed.text("access_token"), "token_type_hint", "refresh_token")
	post("revoke", 200, "token", refreshed.text("access_token"))
	s.do(call{method: "POST", url: s.API + "/oauth/revoke", form: form("token", "unknown", "client_id", cliID), want: 200})

	// A user who denies the request, an invalid request, a user who is not signed in.
	page := s.do(call{method: "GET", url: s.authorizeURL("profile:read"), as: n.ada, want: 200})
	s.do(call{method: "POST", url: s.App + "/oauth/authorize", as: n.ada, form: page.fields("decision", "deny"), want: 303})
	s.do(call{method: "POST", url: s.App + "/oauth/authorize", as: n.ada, form: page.fields("decision", "deny"), want: 400})
	s.do(call{method: "GET", url: s.App + "/oauth/authorize?client_id=unknown", as: n.ada, want: 400})
	s.do(call{method: "GET", url: s.authorizeURL("profile:read"), want: 303})
	s.do(call{method: "GET", url: s.authorizeURL("profile:read"), as: s.person("usr_dev", ""), want: 200})
	s.dev("/permissions", map[string]any{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": []string{}})
	s.dev("/users/usr_cleo/status", map[string]any{"status": "RESTRICTED"})
	s.do(call{method: "GET", url: s.authorizeURL("profile:read"), as: n.cleo, want: 403})
	s.dev("/users/usr_cleo/status", map[string]any{"status": "ACTIVE"})
	s.do(call{method: "POST", url: s.App + "/oauth/authorize", as: n.ada, header: map[string]string{"Origin": "https://evil.example"}, form: page.fields(), want: 403})

	s.device(n)

	// Token exchange, for an embedded app.
	session := s.dev("/session-tokens", map[string]any{"clientId": syncID, "businessId": "biz_bakery", "userId": "usr_ada"}).text("sessionToken")
	s.token(200, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token", session, "subject_token_type", "urn:ietf:params:oauth:token-type:jwt")

	// Registration, public and confidential.
	register := func(want int, token string, body any) reply {
		return s.do(call{method: "POST", url: s.API + "/oauth/register", token: token, json: body, want: want})
	}
	metadata := map[string]any{"client_name": "Desktop", "redirect_uris": []string{"http://127.0.0.1:9093/callback"}, "token_endpoint_auth_method": "none",
		"scope": "profile:read", "client_uri": "https://desktop.example", "contacts": []string{"team@desktop.example"}, "software_id": "1"}
	register(201, "", metadata)
	delete(metadata, "token_endpoint_auth_method")
	register(201, s.do(call{method: "POST", url: s.API + "/developer/registration-tokens", as: n.dev, json: map[string]any{}, want: 201}).text("token"), metadata)
	register(401, "pk_reg_unknown", metadata)
	register(400, "", map[string]any{"client_name": "Desktop", "redirect_uris": []string{"http://elsewhere.example"}})
	register(400, "", map[string]any{"redirect_uris": []string{"https://desktop.example"}})
}

// device connects a device, with both kinds of bodies.
func (s *service) device(n *newcomers) {
	begin := func() reply {
		return s.do(call{method: "POST", url: s.API + "/oauth/device/authorize", json: map[string]any{"client_id": cliID, "scope": "profile:read"}, want: 200})
	}
	poll := func(want int, device reply) reply {
		return s.do(call{method: "POST", url: s.API + "/oauth/token", want: want, form: form(
			"grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", device.text("device_code"), "client_id", cliID)})
	}
	decide := func(device reply, decision string) {
		s.do(call{method: "GET", url: device.text("verification_uri_complete"), as: n.ada, want: 200})
		page := s.do(call{method: "POST", url: s.App + "/device", as: n.ada, form: form("user_code", device.text("user_code")), want: 200})
		s.do(call{method: "POST", url: s.App + "/device", as: n.ada, form: page.fields("decision", decision), want: 200})
	}
	allowed, denied, late := begin(), begin(), begin()
	poll(400, allowed) // authorization_pending
	poll(400, allowed) // slow_down
	decide(allowed, "allow")
	poll(200, allowed)
	decide(denied, "deny")
	poll(400, denied)
	s.dev("/clock", map[string]any{"advanceSeconds": 601})
	poll(400, late)
	s.do(call{method: "POST", url: s.API + "/oauth/device/authorize", form: form("client_id", cliID, "scope", "journal:write"), want: 400})
	s.do(call{method: "POST", url: s.API + "/oauth/device/authorize", form: form("client_id", cliID), want: 200})
	s.do(call{method: "GET", url: s.App + "/device", want: 303})
	s.do(call{method: "GET", url: s.App + "/oauth/icon.svg", want: 200})
	s.do(call{method: "POST", url: s.App + "/device", form: form("user_code", "BCDF-GHJK"), want: 303})
	s.do(call{method: "POST", url: s.App + "/device", as: n.ada, form: form("user_code", "BCDF-GHJK"), want: 400})
	s.do(call{method: "POST", url: s.App + "/device", as: n.ada, header: map[string]string{"Origin": "https://evil.example"}, form: form("user_code", "BCDF-GHJK"), want: 403})
}
