package main

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// client is how a client behaves.
type client struct {
	name     string
	document string // path of its metadata document; empty: it registers
	metadata string // of the document, or what it registers
	redirect string // of the authorization request
	business string // the one that the person chooses
	prompt   string // sent with the authorization request

	needsNone  bool   // it uses its document only where the method none is announced
	signs      bool   // it prefers private_key_jwt
	isStrict   bool   // it discards metadata whose resource is not the URL that it called
	asksForAll bool   // it requests every scope of the server metadata
	origin     string // it runs in a browser, on a page of this origin
}

// player plays a client.
type player struct {
	*testing.T
	*harness
	client
	site string // where documents are
	key  *rsa.PrivateKey
}

// Both embedded types can fail a test; the subtest's is meant.
func (p player) fatalf(format string, args ...any) {
	p.Helper()
	p.Fatalf(p.name+": "+format, args...)
}

type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

type serverMetadata struct {
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Register  string   `json:"registration_endpoint"`
	Scopes    []string `json:"scopes_supported"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
	PKCE      []string `json:"code_challenge_methods_supported"`
	Documents bool     `json:"client_id_metadata_document_supported"`
	HasIssuer bool     `json:"authorization_response_iss_parameter_supported"`
}

type issuedTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

func (p player) play() {
	p.Helper()
	called := p.APIURL + path
	scope, resource, server := p.discover(called)
	clientID := p.identify(server, scope)
	asked := scope
	if p.asksForAll {
		asked = strings.Join(server.Scopes, " ")
	}
	verifier := random()
	digest := sha256.Sum256([]byte(verifier))
	state := random()
	request := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {p.redirect}, "scope": {asked}, "state": {state},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(digest[:])}, "code_challenge_method": {"S256"}, "resource": {resource.Resource},
	}
	if p.prompt != "" {
		request.Set("prompt", p.prompt)
	}
	back, err := p.approve(server.Authorize+"?"+request.Encode(), p.business)
	if err != nil {
		p.fatalf("authorize: %v", err)
	}
	response := back.Query()
	back.RawQuery = ""
	if back.String() != p.redirect || response.Get("state") != state || response.Get("code") == "" {
		p.fatalf("sent back to %s with %v", back, response)
	}
	if !server.HasIssuer || response.Get("iss") != server.Issuer {
		p.fatalf("META-08: iss %q", response.Get("iss"))
	}
	tokens := p.token(server, clientID, url.Values{
		"grant_type": {"authorization_code"}, "code": {response.Get("code")}, "code_verifier": {verifier}, "redirect_uri": {p.redirect}, "resource": {resource.Resource},
	})
	p.callTools(called, tokens)
	refreshed := p.token(server, clientID, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}, "resource": {resource.Resource}})
	if refreshed.Access == tokens.Access {
		p.fatalf("the refreshed token is the same")
	}
	p.callTools(called, refreshed)
}

var attribute = regexp.MustCompile(`(\w+)="([^"]*)"`)

// discover goes from a request without a token to the metadata of the server.
func (p player) discover(called string) (scope string, resource resourceMetadata, server serverMetadata) {
	p.Helper()
	res, _ := p.send(http.MethodPost, called, initialize, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	challenge := map[string]string{}
	for _, match := range attribute.FindAllStringSubmatch(res.Header.Get("WWW-Authenticate"), -1) {
		challenge[match[1]] = match[2]
	}
	if res.StatusCode != http.StatusUnauthorized || challenge["resource_metadata"] == "" {
		p.fatalf("%d without a way to go on: %v", res.StatusCode, res.Header)
	}
	p.get(challenge["resource_metadata"], &resource)
	if p.isStrict && resource.Resource != called {
		p.fatalf("META-07: the metadata is of %s", resource.Resource)
	}
	p.get(resource.Servers[0]+"/.well-known/oauth-authorization-server", &server)
	if server.Issuer != resource.Servers[0] || !slices.Contains(server.PKCE, "S256") {
		p.fatalf("server metadata %+v", server)
	}
	return cmp.Or(challenge["scope"], strings.Join(resource.Scopes, " ")), resource, server
}

// identify returns the client id: the URL of the document, or that of a registration.
func (p player) identify(server serverMetadata, scope string) string {
	p.Helper()
	if p.document != "" {
		if !server.Documents || p.needsNone && !slices.Contains(server.Methods, "none") {
			p.fatalf("documents are not announced: %+v", server)
		}
		return p.site + p.document
	}
	res, text := p.send(http.MethodPost, server.Register, strings.ReplaceAll(p.metadata, "SCOPE", scope), "Content-Type", "application/json", "Accept", "application/json")
	var registered struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(text), &registered); err != nil || res.StatusCode != http.StatusCreated {
		p.fatalf("register: %d %s", res.StatusCode, text)
	}
	return registered.ID
}

// token gets tokens. A client that signs does so where the server announces it.
func (p player) token(server serverMetadata, clientID string, form url.Values) (tokens issuedTokens) {
	p.Helper()
	form.Set("client_id", clientID)
	if p.signs {
		if !slices.Contains(server.Methods, "private_key_jwt") {
			p.fatalf("META-08: private_key_jwt is not announced: %q", server.Methods)
		}
		// CIMD-05: without proof of the key there are no tokens.
		if res, text := p.send(http.MethodPost, server.Token, form.Encode(), "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode != http.StatusUnauthorized {
			p.fatalf("without an assertion: %d %s", res.StatusCode, text)
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", p.assertion(clientID, server.Token))
	}
	res, text := p.send(http.MethodPost, server.Token, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json")
	if err := json.Unmarshal([]byte(text), &tokens); err != nil || res.StatusCode != http.StatusOK || tokens.Access == "" || tokens.Refresh == "" {
		p.fatalf("%s: %d %s", form.Get("grant_type"), res.StatusCode, text)
	}
	return tokens
}

// assertion is what ChatGPT proves its key with (RFC 7523).
func (p player) assertion(clientID, audience string) string {
	p.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "cimd-1"}}, nil)
	if err != nil {
		p.fatalf("%v", err)
	}
	now := p.clock.Now()
	claims, _ := json.Marshal(map[string]any{
		"iss": clientID, "sub": clientID, "aud": audience, "jti": random(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	signed, err := signer.Sign(claims)
	if err != nil {
		p.fatalf("%v", err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		p.fatalf("%v", err)
	}
	return text
}

// callTools begins a session, lists the tools and calls one.
func (p player) callTools(called string, tokens issuedTokens) {
	p.Helper()
	for _, step := range []struct {
		body, want string
		status     int
	}{
		{initialize, `"serverInfo"`, http.StatusOK},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", http.StatusAccepted},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"list_invoices"`, http.StatusOK},
		{callOf("list_invoices"), `"hasMore"`, http.StatusOK},
	} {
		res, text := p.send(http.MethodPost, called, step.body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
			"Authorization", "Bearer "+tokens.Access, "Mcp-Protocol-Version", "2025-11-25")
		if res.StatusCode != step.status || !strings.Contains(text, step.want) || strings.Contains(text, `"isError":true`) {
			p.fatalf("%s: %d %s", step.body, res.StatusCode, text)
		}
	}
	if res, _ := p.send(http.MethodGet, called, "", "Accept", "text/event-stream", "Authorization", "Bearer "+tokens.Access); res.StatusCode != http.StatusMethodNotAllowed {
		p.fatalf("a stream: %d", res.StatusCode)
	}
}

func (p player) get(address string, out any) {
	p.Helper()
	res, text := p.send(http.MethodGet, address, "", "Accept", "application/json", "Mcp-Protocol-Version", "2025-11-25")
	if err := json.Unmarshal([]byte(text), out); err != nil || res.StatusCode != http.StatusOK {
		p.fatalf("%s: %d %s", address, res.StatusCode, text)
	}
}

// send sends a request. From a browser it is sent, and its response can be read, as far as
// CORS allows.
func (p player) send(method, address, body string, headers ...string) (*http.Response, string) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, address, strings.NewReader(body))
	if err != nil {
		p.fatalf("%v", err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if p.origin != "" {
		p.preflight(r)
		r.Header.Set("Origin", p.origin)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.fatalf("%v", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.fatalf("%v", err)
	}
	if p.origin == "" {
		return res, string(text)
	}
	if res.Header.Get("Access-Control-Allow-Origin") != "*" {
		p.fatalf("META-05: %s cannot be read: %v", address, res.Header)
	}
	if !strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		res.Header.Del("WWW-Authenticate")
	}
	return res, string(text)
}

// preflight asks whether a page may send the request with its headers.
func (p player) preflight(r *http.Request) {
	p.Helper()
	ask, err := http.NewRequestWithContext(p.Context(), http.MethodOptions, r.URL.String(), nil)
	if err != nil {
		p.fatalf("%v", err)
	}
	ask.Header.Set("Origin", p.origin)
	ask.Header.Set("Access-Control-Request-Method", r.Method)
	_, res, err := read(http.DefaultClient.Do(ask))
	if err != nil || res.StatusCode/100 != 2 || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		p.fatalf("META-05: preflight of %s: %v %v", r.URL, res, err)
	}
	allowed := strings.Split(strings.ToLower(res.Header.Get("Access-Control-Allow-Headers")), ", ")
	for name := range r.Header {
		if name = strings.ToLower(name); name != "accept" && !slices.Contains(allowed, name) {
			p.fatalf("META-05: %s may not be sent to %s", name, r.URL)
		}
	}
}

func random() string {
	return rand.Text() + rand.Text()
}
