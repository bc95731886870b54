package oauthserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

func withKeys(c *oauthserver.Config) { c.PrivateKeyJWT = true }

// A keyHolder is a client with a key of its own.
type keyHolder struct {
	testing.TB
	key      *ecdsa.PrivateKey
	keyID    string
	clientID string
	now      func() time.Time
	signed   *atomic.Int64 // assertions so far
}

func newKeyHolder(k *apiHarness, keyID string) keyHolder {
	k.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.Must(err)
	return keyHolder{TB: k.TB, key: key, keyID: keyID, now: k.Clock.Now, signed: new(atomic.Int64)}
}

// jwks is the set of its public key.
func (h keyHolder) jwks() string {
	h.Helper()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: h.key.Public(), KeyID: h.keyID, Use: "sig"}}})
	if err != nil {
		h.Fatal(err)
	}
	return string(set)
}

// assertion is a new one, with claims changed.
func (h keyHolder) assertion(change map[string]any) string {
	h.Helper()
	claims := withMembers(map[string]any{
		"iss": h.clientID, "sub": h.clientID, "aud": apiOrigin, "exp": h.now().Unix() + 60, "jti": fmt.Sprint("jti-", h.signed.Add(1)),
	}, change)
	payload, err := json.Marshal(claims)
	if err != nil {
		h.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: h.key, KeyID: h.keyID}}, nil)
	if err != nil {
		h.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		h.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		h.Fatal(err)
	}
	return text
}

// params are the parameters of an assertion.
func (h keyHolder) params(change map[string]any) []string {
	return []string{"client_assertion_type", assertionType, "client_assertion", h.assertion(change)}
}

// registerKey registers an app with its keys, which members name.
func (k *apiHarness) registerKey(h keyHolder, members string) keyHolder {
	k.Helper()
	got := k.register(`{"client_name":"Agent","redirect_uris":["` + apiRedirect + `"],"token_endpoint_auth_method":"private_key_jwt",` + members + `}`)
	if got.Status != http.StatusCreated {
		k.Fatalf("%d %s", got.Status, got.Body)
	}
	h.clientID = got.text("client_id")
	return h
}

// newKeyClient is a registered app with inline keys.
func newKeyClient(t testing.TB, changes ...func(*oauthserver.Config)) (*apiHarness, keyHolder) {
	t.Helper()
	k := newAPIHarness(t, append([]func(*oauthserver.Config){openRegistration, withKeys}, changes...)...)
	h := newKeyHolder(k, "one")
	return k, k.registerKey(h, `"jwks":`+h.jwks())
}

// authenticated wants a request that failed for another reason than authentication.
func (a apiResponse) authenticated() {
	a.Helper()
	a.refused(http.StatusBadRequest, "unsupported_grant_type", "")
}

func (a apiResponse) notAuthenticated() {
	a.Helper()
	a.refused(http.StatusUnauthorized, "invalid_client", "*")
}

// try presents an assertion at the token endpoint.
func (k *apiHarness) try(params []string) apiResponse {
	k.Helper()
	return k.token(nil, append([]string{"grant_type", "x"}, params...)...)
}

// META-08, CIMD-05: what the server metadata says.
func TestKeyMetadata(t *testing.T) {
	t.Parallel()
	got := newAPIHarness(t, withKeys).send("GET", "/.well-known/oauth-authorization-server", "").Body
	for _, want := range []string{
		`"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none","private_key_jwt"]`,
		`"token_endpoint_auth_signing_alg_values_supported":["ES256","PS256","RS256","EdDSA"]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

// CIMD-05: an assertion authenticates a client at every endpoint that authenticates clients.
func TestAssertion(t *testing.T) {
	t.Parallel()
	k, h := newKeyClient(t)
	code := k.code(h.clientID, "")
	tokens := k.token(nil, append(h.params(nil), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect)...).
		ok("access_token expires_in refresh_token scope token_type")
	access := tokens.text("access_token")
	k.post("/oauth/introspect", nil, append(h.params(nil), "token", access)...).ok("active client_id exp scope sub")
	k.post("/oauth/device/authorize", nil, h.params(nil)...).ok("device_code expires_in interval user_code verification_uri verification_uri_complete")
	body, err := json.Marshal(map[string]string{"client_assertion_type": assertionType, "client_assertion": h.assertion(nil)})
	k.Must(err)
	if got := k.postJSON("/oauth/device/authorize", string(body)); got.Status != http.StatusOK {
		t.Errorf("JSON: %d %s", got.Status, got.Body)
	}
	k.post("/oauth/revoke", nil, append(h.params(nil), "token", access)...).ok("")
	if k.isLive(access) {
		t.Error("the token was not revoked")
	}
	k.token(nil, append(h.params(nil), "grant_type", "refresh_token", "refresh_token", tokens.text("refresh_token"))...).
		ok("access_token expires_in refresh_token scope token_type")
	// With the client_id in the form, in Basic, or both.
	k.try(append(h.params(nil), "client_id", h.clientID)).authenticated()
	k.token(withBasic(h.clientID, ""), append(h.params(nil), "grant_type", "x")...).authenticated()
	// It is CONFIDENTIAL.
	k.token(withBasic(h.clientID, ""), "grant_type", "x").notAuthenticated()
	k.token(nil, "client_id", h.clientID, "grant_type", "x").notAuthenticated()
	k.post("/oauth/device/authorize", nil, "client_id", h.clientID).notAuthenticated()
	k.post("/oauth/revoke", nil, "client_id", h.clientID, "token", access).notAuthenticated()
	k.post("/oauth/introspect", withBasic(h.clientID, ""), "token", access).notAuthenticated()
}

// CIMD-05: what does not authenticate.
func TestAssertionRefused(t *testing.T) {
	t.Parallel()
	k, h := newKeyClient(t)
	other := k.registerKey(newKeyHolder(k, "one"), `"jwks":`+newKeyHolder(k, "one").jwks())
	forged := h
	forged.key = newKeyHolder(k, "one").key
	unknown := h
	unknown.keyID = "two"
	used := h.params(nil)
	k.try(used).authenticated()
	type claims = map[string]any
	now := k.Clock.Now().Unix()
	for name, params := range map[string][]string{
		"CIMD-05 used before":          used,
		"CIMD-05 jti used before":      h.params(claims{"jti": "jti-1"}),
		"CIMD-05 expired":              h.params(claims{"exp": now - 60}),
		"CIMD-05 lives too long":       h.params(claims{"exp": now + 3600}),
		"CIMD-05 for another server":   h.params(claims{"aud": "https://other.example"}),
		"CIMD-05 for the app host":     h.params(claims{"aud": appOrigin}),
		"CIMD-05 another client's key": forged.params(nil),
		"CIMD-05 unknown key":          unknown.params(nil),
		"CIMD-05 of an unknown client": h.params(claims{"iss": "cli_unknown", "sub": "cli_unknown"}),
		"CIMD-05 of a secret's client": h.params(claims{"iss": confidentialID, "sub": confidentialID}),
		"CIMD-05 of a public client":   h.params(claims{"iss": publicID, "sub": publicID}),
		"CIMD-05 of another client":    h.params(claims{"iss": other.clientID, "sub": other.clientID}),
		"CIMD-05 another client_id":    append(h.params(nil), "client_id", other.clientID),
		"CIMD-05 no JWT":               {"client_assertion_type", assertionType, "client_assertion", "x"},
		"CIMD-05 another type":         {"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer", "client_assertion", h.assertion(nil)},
	} {
		t.Run(name, func(t *testing.T) { k.try(params).notAuthenticated() })
	}
	for name, params := range map[string][]string{
		"TOK-03 empty":         {"client_assertion_type", assertionType, "client_assertion", ""},
		"TOK-03 no type":       {"client_assertion", h.assertion(nil)},
		"TOK-03 no assertion":  {"client_assertion_type", assertionType},
		"TOK-03 too long":      {"client_assertion_type", assertionType, "client_assertion", strings.Repeat("a", 8<<10+1)},
		"TOK-03 twice":         append(h.params(nil), "client_assertion", h.assertion(nil)),
		"TOK-01 with a secret": append(h.params(nil), "client_id", confidentialID, "client_secret", apiSecret),
	} {
		t.Run(name, func(t *testing.T) { k.try(params).refused(http.StatusBadRequest, "invalid_request", "*") })
	}
	t.Run("TOK-01 with a secret in the header", func(t *testing.T) {
		k.token(withBasic(confidentialID, apiSecret), append(h.params(nil), "grant_type", "x")...).refused(http.StatusBadRequest, "invalid_request", "*")
	})
	t.Run("TOK-01 in the URL", func(t *testing.T) {
		k.post("/oauth/token?client_assertion="+h.assertion(nil), nil, "grant_type", "x").refused(http.StatusBadRequest, "invalid_request", "*")
	})
	t.Run("CIMD-05 what was refused is not used up", func(t *testing.T) {
		params := h.params(nil)
		k.try(append(params, "client_id", other.clientID)).notAuthenticated()
		k.try(params).authenticated()
	})
	t.Run("CIMD-05 one jti for two clients", func(t *testing.T) {
		second := k.registerKey(h, `"jwks":`+h.jwks())
		k.try(h.params(map[string]any{"jti": "shared"})).authenticated()
		k.try(second.params(map[string]any{"jti": "shared"})).authenticated()
		k.try(h.params(map[string]any{"jti": "shared"})).notAuthenticated()
	})
	t.Run("META-08 off", func(t *testing.T) {
		off := newAPIHarness(t)
		off.try(h.params(nil)).notAuthenticated()
		off.try(append(h.params(nil), "client_id", publicID)).authenticated() // an unknown parameter is ignored
	})
}

// INT-03: for a suspended app that proves its key, the response is that its tokens are not active.
func TestAssertionOfASuspendedApp(t *testing.T) {
	t.Parallel()
	k, h := newKeyClient(t)
	k.Must(k.OAuth.SetAppStatus(t.Context(), k.app(h.clientID).ID, partner.AppSuspended))
	k.try(h.params(nil)).notAuthenticated()
	k.post("/oauth/introspect", nil, append(h.params(nil), "token", "x")...).ok("active")
}

// CIMD-05, OLIM-01, LOCK-01: an assertion counts like a secret, and failures lock out.
func TestAssertionLimits(t *testing.T) {
	t.Parallel()
	t.Run("OLIM-01", func(t *testing.T) {
		t.Parallel()
		k, h := newKeyClient(t, func(c *oauthserver.Config) {
			c.Limits.OAuthWithoutSecret, c.Limits.OAuthWithSecret = ratelimit.PerMinute(1), ratelimit.PerMinute(3)
		})
		for range 3 {
			k.try(h.params(nil)).authenticated()
		}
		k.try(h.params(nil)).refused(http.StatusTooManyRequests, "temporarily_unavailable", "*")
	})
	t.Run("OLIM-02", func(t *testing.T) {
		t.Parallel()
		k, h := newKeyClient(t, func(c *oauthserver.Config) { c.Limits.OAuthPerClient = ratelimit.PerMinute(1) })
		k.try(h.params(nil)).authenticated()
		k.ip = "192.0.2.9"
		k.try(h.params(nil)).refused(http.StatusTooManyRequests, "temporarily_unavailable", "*")
	})
	t.Run("LOCK-01", func(t *testing.T) {
		t.Parallel()
		k, h := newKeyClient(t)
		for range 31 {
			k.try(h.params(map[string]any{"aud": "https://other.example"})).notAuthenticated()
		}
		k.try(h.params(nil)).refused(http.StatusTooManyRequests, "temporarily_unavailable", "*")
		k.ip = "192.0.2.9"
		k.try(h.params(nil)).authenticated()
	})
}

// CIMD-05: of 32 requests with one assertion, on two nodes, one is accepted.
func TestAssertionIsUsedOnce(t *testing.T) {
	t.Parallel()
	for name, open := range testdb.Databases {
		t.Run("CIMD-05 "+name, func(t *testing.T) {
			t.Parallel()
			var cfg oauthserver.Config
			k := newAPIHarnessOn(t, open, openRegistration, withKeys, func(c *oauthserver.Config) { cfg = *c })
			h := newKeyHolder(k, "one")
			h = k.registerKey(h, `"jwks":`+h.jwks())
			other, err := oauthserver.New(cfg)
			k.Must(err)
			nodes := []*apiHarness{k, {Harness: &harness.Harness{TB: t, Store: k.Store, Clock: k.Clock, OAuth: other, API: other.APIHandler()}, ip: "192.0.2.2"}}
			for range 3 {
				params := h.params(nil)
				var accepted, rejected atomic.Int32
				testdb.Race(32, func(i int) {
					// Few for each address: the 31st failure would be a lockout.
					switch got := nodes[i%2].try(params); got.Status {
					case http.StatusBadRequest:
						accepted.Add(1)
					case http.StatusUnauthorized:
						rejected.Add(1)
					}
				})
				if accepted.Load() != 1 || rejected.Load() != 31 {
					t.Errorf("%d accepted, %d rejected", accepted.Load(), rejected.Load())
				}
				k.Clock.Advance(time.Minute)
			}
		})
	}
}

// CIMD-05, TOK-11: used assertions are purged a day after they have expired.
func TestUsedAssertionsArePurged(t *testing.T) {
	t.Parallel()
	k, h := newKeyClient(t)
	params := h.params(nil)
	k.try(params).authenticated()
	count := func() (n int) {
		rows, err := k.Store.Tap.DB.Query(t.Context(), "SELECT digest FROM partnerkit_used_assertion")
		k.Must(err)
		defer rows.Close()
		for rows.Next() {
			n++
		}
		return n
	}
	k.Clock.Advance(24*time.Hour + time.Minute)
	k.OAuth.Tidy(t.Context())
	if count() != 1 {
		t.Error("purged too early")
	}
	k.Clock.Advance(time.Second)
	k.OAuth.Tidy(t.Context())
	if count() != 0 {
		t.Error("not purged")
	}
	k.try(params).notAuthenticated()
}
