package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func escaped(text string) string { return url.QueryEscape(text) }

// documents is a site with client metadata documents and key sets.
type documents struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string
}

func newDocuments(t *testing.T) *documents {
	t.Helper()
	d := &documents{files: make(map[string]string)}
	d.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		text, ok := d.files[r.URL.Path]
		d.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *documents) host() string { return strings.TrimPrefix(d.URL, "https://") }

// put stores a file and returns its URL.
func (d *documents) put(path, text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path] = text
	return d.URL + path
}

// serve stores a document with the members and returns its URL, the client_id.
func (d *documents) serve(path, members string) string {
	return d.put(path, `{"client_id": "`+d.URL+path+`", "client_name": "Agent", `+members+`}`)
}

// client is an app at the server. It is PUBLIC unless it has a key.
type client struct {
	*harness
	id, redirect string
	resource     string // empty: the parameter is not sent
	key          *key
}

// register registers a client. Its redirect URI is the first of the metadata.
func (r *harness) register(t *testing.T, metadata string) client {
	t.Helper()
	got := do(t, http.DefaultClient, request(t, http.MethodPost, r.api+"/oauth/register", "application/json", metadata)).want(t, http.StatusCreated).json(t)
	return client{harness: r, id: got["client_id"].(string), redirect: got["redirect_uris"].([]any)[0].(string)}
}

func (r *harness) refuseRegistration(t *testing.T, metadata, want string) {
	t.Helper()
	a := do(t, http.DefaultClient, request(t, http.MethodPost, r.api+"/oauth/register", "application/json", metadata)).want(t, http.StatusBadRequest)
	if a.json(t)["error"] != want {
		t.Errorf("%s: %s, want %s", metadata, a.body, want)
	}
}

// verifier is the PKCE verifier of every client.
var verifier = strings.Repeat("v", 50)

// with adds the resource to parameters.
func (c client) with(params url.Values) url.Values {
	if c.resource != "" {
		params.Set("resource", c.resource)
	}
	return params
}

// ask opens the consent page.
func (c client) ask(t *testing.T, b *http.Client, scope string) response {
	t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	return get(t, b, c.app+"/oauth/authorize?"+c.with(url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {c.redirect}, "scope": {scope}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}).Encode())
}

// decide submits the consent page and returns the parameters that the client gets.
func (c client) decide(t *testing.T, b *http.Client, business, decision, scope string) url.Values {
	t.Helper()
	form := c.ask(t, b, scope).want(t, http.StatusOK).form()
	form.Set("business_id", business)
	form.Set("decision", decision)
	location := post(t, b, c.app+"/oauth/authorize", form).want(t, http.StatusSeeOther).Header.Get("Location")
	query, ok := strings.CutPrefix(location, c.redirect+"?")
	if !ok {
		t.Fatalf("Location %s, want %s", location, c.redirect)
	}
	params, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return params
}

// redeem exchanges a code for tokens.
func (c client) redeem(t *testing.T, code string) response {
	t.Helper()
	form := c.with(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.redirect}, "code_verifier": {verifier}})
	if c.key == nil {
		form.Set("client_id", c.id)
	} else {
		c.prove(t, form, nil)
	}
	return post(t, http.DefaultClient, c.api+"/oauth/token", form)
}

// connect is Ada connecting the app to a business. It returns the token response.
func (c client) connect(t *testing.T, business, scope string) response {
	t.Helper()
	return c.redeem(t, c.decide(t, c.session("usr_ada", "biz_bakery"), business, "allow", scope).Get("code"))
}

// wantUnreviewed checks that the app can only be connected to sandbox businesses.
func (c client) wantUnreviewed(t *testing.T) {
	t.Helper()
	b := c.session("usr_ada", "biz_bakery")
	form := c.ask(t, b, "invoices:read").want(t, http.StatusOK).form()
	form.Set("business_id", "biz_bakery")
	form.Set("decision", "allow")
	a := post(t, b, c.app+"/oauth/authorize", form).want(t, http.StatusForbidden)
	if !strings.Contains(a.body, "This app has not completed review and can only connect to its own sandbox businesses") {
		t.Errorf("%s", a.body)
	}
}

// key is a client's own key.
type key struct{ private *ecdsa.PrivateKey }

func newKey(t *testing.T) *key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &key{private}
}

func (k *key) jwks(t *testing.T) string {
	t.Helper()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: k.private.Public(), KeyID: "one", Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(set)
}

// prove adds an assertion with changed claims to a form.
func (c client) prove(t *testing.T, form url.Values, change map[string]any) {
	t.Helper()
	claims := map[string]any{"iss": c.id, "sub": c.id, "aud": c.api, "exp": time.Now().Unix() + 60, "jti": rand.Text()}
	maps.Copy(claims, change)
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: c.key.private, KeyID: "one"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", text)
}

// testKeys are clients with keys of their own: by registration and by document, with the
// keys inline and behind a URL.
func testKeys(t *testing.T, r *harness, site *documents) {
	t.Helper()
	k := newKey(t)
	const redirect = "http://127.0.0.1/cb"
	uri := site.put("/keys.json", k.jwks(t))
	method := `"redirect_uris": ["` + redirect + `"], "token_endpoint_auth_method": "private_key_jwt", `
	clients := []client{
		r.register(t, `{"client_name": "Agent", `+method+`"jwks": `+k.jwks(t)+`}`),
		r.register(t, `{"client_name": "Agent", `+method+`"jwks_uri": "`+uri+`"}`),
		{harness: r, redirect: redirect, id: site.serve("/inline.json", method+`"jwks": `+k.jwks(t))},
		{harness: r, redirect: redirect, id: site.serve("/keyed.json", method+`"jwks_uri": "`+uri+`"`)},
	}
	for i, c := range clients {
		c.key = k
		t.Run(fmt.Sprint("CIMD-05 client ", i), func(t *testing.T) {
			refresh := c.connect(t, "biz_ledgerlink_sandbox", "invoices:read").want(t, http.StatusOK).json(t)["refresh_token"].(string)
			c.wantProof(t, refresh)
		})
	}
	r.refuseRegistration(t, `{"client_name": "Agent", "redirect_uris": ["`+redirect+`"], "token_endpoint_auth_method": "private_key_jwt"}`, "invalid_client_metadata")
}

// wantProof wants that only a good assertion authenticates the client, at every endpoint that
// authenticates clients.
func (c client) wantProof(t *testing.T, refresh string) {
	t.Helper()
	now := time.Now().Unix()
	tries := map[string]func(url.Values){
		"no proof":         func(f url.Values) { f.Set("client_id", c.id) },
		"other audience":   func(f url.Values) { c.prove(t, f, map[string]any{"aud": "https://elsewhere.example"}) },
		"too long":         func(f url.Values) { c.prove(t, f, map[string]any{"exp": now + 400}) },
		"expired":          func(f url.Values) { c.prove(t, f, map[string]any{"exp": now - 60}) },
		"other subject":    func(f url.Values) { c.prove(t, f, map[string]any{"sub": "ledgerlink-sync"}) },
		"no jti":           func(f url.Values) { c.prove(t, f, map[string]any{"jti": ""}) },
		"other key":        func(f url.Values) { client{harness: c.harness, id: c.id, key: newKey(t)}.prove(t, f, nil) },
		"a secret instead": func(f url.Values) { f.Set("client_id", c.id); f.Set("client_secret", "pk_secret") },
	}
	for name, add := range tries {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
		add(form)
		if a := post(t, http.DefaultClient, c.api+"/oauth/token", form).want(t, http.StatusUnauthorized); a.json(t)["error"] != "invalid_client" {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
	c.prove(t, form, map[string]any{"aud": c.api + "/oauth/token"})
	refresh = post(t, http.DefaultClient, c.api+"/oauth/token", form).want(t, http.StatusOK).json(t)["refresh_token"].(string)
	form.Set("refresh_token", refresh) // the assertion a second time
	post(t, http.DefaultClient, c.api+"/oauth/token", form).want(t, http.StatusUnauthorized)
	for endpoint, params := range map[string]url.Values{
		"introspect": {"token": {refresh}}, "revoke": {"token": {"unknown"}}, "device/authorize": {"scope": {"invoices:read"}},
	} {
		bare := url.Values{"client_id": {c.id}}
		maps.Copy(bare, params)
		post(t, http.DefaultClient, c.api+"/oauth/"+endpoint, bare).want(t, http.StatusUnauthorized)
		c.prove(t, params, nil)
		post(t, http.DefaultClient, c.api+"/oauth/"+endpoint, params).want(t, http.StatusOK)
	}
}
