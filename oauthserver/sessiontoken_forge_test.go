package oauthserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/partner"
)

// TX-02: what is refused about the text, the header and the signature.
func TestSessionTokenForgeries_TX02(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	token := r.issue(t, r.Server, m)
	private, kid := r.privateKey(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	mustDo(t, err)
	parts := strings.Split(token, ".")
	header := unb64(t, parts[0])
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	mustDo(t, err)
	with := func(extra map[string]any) map[string]any {
		h := maps.Clone(header)
		maps.Copy(h, extra)
		return h
	}
	without := func(name string) map[string]any {
		h := maps.Clone(header)
		delete(h, name)
		return h
	}
	public, err := jose.JSONWebKey{Key: &private.PublicKey, KeyID: kid}.MarshalJSON()
	mustDo(t, err)
	own, err := jose.JSONWebKey{Key: &stranger.PublicKey, KeyID: kid}.MarshalJSON()
	mustDo(t, err)
	mac := func(secret []byte) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: kid}}, new(jose.SignerOptions).WithType("JWT"))
		mustDo(t, err)
		signed, err := signer.Sign(payload)
		mustDo(t, err)
		text, err := signed.CompactSerialize()
		mustDo(t, err)
		return text
	}
	point, err := private.PublicKey.Bytes()
	mustDo(t, err)
	sealed := func(zip jose.CompressionAlgorithm) string {
		encrypter, err := jose.NewEncrypter(jose.A128GCM, jose.Recipient{Algorithm: jose.ECDH_ES_A128KW, Key: &private.PublicKey, KeyID: kid},
			&jose.EncrypterOptions{Compression: zip})
		mustDo(t, err)
		encrypted, err := encrypter.Encrypt([]byte(token))
		mustDo(t, err)
		text, err := encrypted.CompactSerialize()
		mustDo(t, err)
		return text
	}
	jwe := strings.Split(sealed(jose.NONE), ".")

	tests := map[string]string{
		"empty":                       "",
		"no JWT":                      "session",
		"one dot":                     parts[0] + "." + parts[1],
		"three dots":                  token + ".x",
		"many dots":                   strings.Repeat(".", sessiontoken.MaxLength),
		"many more dots":              strings.Repeat(".", 10<<20),
		"oversized":                   token + strings.Repeat("A", sessiontoken.MaxLength),
		"padding":                     parts[0] + "=." + parts[1] + "." + parts[2],
		"newline":                     parts[0] + "\n." + parts[1] + "." + parts[2],
		"space before":                " " + token,
		"JSON serialization":          `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		"no signature":                parts[0] + "." + parts[1] + ".",
		"another signature":           parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86),       // r and s of zero: CVE-2022-21449
		"encrypted to our key":        strings.Join(jwe, "."),                                          // a second parser, for nothing
		"encrypted and compressed":    sealed(jose.DEFLATE),                                            // CVE-2024-28180
		"encrypted without its key":   strings.Join([]string{jwe[0], "", jwe[2], jwe[3], jwe[4]}, "."), // CVE-2026-34986
		"another payload":             parts[0] + "." + b64(t, map[string]any{"sub": "usr_2"}) + "." + parts[2],
		"alg none":                    b64(t, with(map[string]any{"alg": "none"})) + "." + parts[1] + ".",
		"alg none with the signature": b64(t, with(map[string]any{"alg": "none"})) + "." + parts[1] + "." + parts[2],
		"alg NONE":                    b64(t, with(map[string]any{"alg": "nOnE"})) + "." + parts[1] + ".",
		"HS256 with the public key":   mac(public),
		"HS256 with the point":        mac(point),
		"alg RS256":                   signRaw(t, private, with(map[string]any{"alg": "RS256"}), string(payload)),
		"alg ES384":                   signRaw(t, private, with(map[string]any{"alg": "ES384"}), string(payload)),
		"alg in another case":         signRaw(t, private, with(map[string]any{"alg": "es256"}), string(payload)),
		"no alg":                      signRaw(t, private, without("alg"), string(payload)),
		"another service's key":       signRaw(t, stranger, header, string(payload)),
		"no kid":                      signRaw(t, private, without("kid"), string(payload)),
		"wrong kid":                   signRaw(t, private, with(map[string]any{"kid": kid[:len(kid)-4] + "0000"}), string(payload)),
		"kid of a number":             signRaw(t, private, with(map[string]any{"kid": 1}), string(payload)),
		"kid in another case":         signRaw(t, private, map[string]any{"alg": "ES256", "typ": "JWT", "KID": kid}, string(payload)),
		"key in the header":           signRaw(t, stranger, with(map[string]any{"jwk": json.RawMessage(own)}), string(payload)),
		"our own key in the header":   signRaw(t, private, with(map[string]any{"jwk": json.RawMessage(public)}), string(payload)),
		"jku":                         signRaw(t, private, with(map[string]any{"jku": "https://api.example.com/.well-known/jwks.json"}), string(payload)),
		"x5u":                         signRaw(t, private, with(map[string]any{"x5u": "https://evil.example/"}), string(payload)),
		"x5c":                         signRaw(t, private, with(map[string]any{"x5c": []string{}}), string(payload)),
		"crit":                        signRaw(t, private, with(map[string]any{"crit": []string{"exp"}, "exp": 1}), string(payload)),
		"b64":                         signRaw(t, private, with(map[string]any{"crit": []string{"b64"}, "b64": true}), string(payload)),
		"another type":                signRaw(t, private, with(map[string]any{"typ": "at+jwt"}), string(payload)),
		"no type":                     signRaw(t, private, without("typ"), string(payload)),
		"payload no JSON":             signRaw(t, private, header, "hello"),
		"payload null":                signRaw(t, private, header, "null"),
		"payload a list":              signRaw(t, private, header, "["+string(payload)+"]"),
		"payload and more":            signRaw(t, private, header, string(payload)+"{}"),
		"claim twice":                 signRaw(t, private, header, strings.Replace(string(payload), "{", `{"sub":"usr_2",`, 1)),
	}
	verifier := r.Server
	for name, forged := range tests {
		got, err := verifier.VerifySessionToken(t.Context(), app, forged, r.clock.Now())
		if err == nil || errors.Is(err, oauthserver.ErrInternal) || got != (oauthserver.SessionToken{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for _, part := range strings.Split(forged, ".") {
			if len(part) > 7 && len(forged) < 2*sessiontoken.MaxLength && strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error repeats the token: %v", name, err)
			}
		}
	}
	// The tool above can make a good one, so the refusals have the reasons they say.
	if _, err := verifier.VerifySessionToken(t.Context(), app, signRaw(t, private, header, string(payload)), r.clock.Now()); err != nil {
		t.Errorf("signed by hand: %v", err)
	}
}

// TX-02, CVE-2025-27144, CVE-2025-30204, CVE-2025-22868: what a token costs before it
// is refused does not grow with its dots. The test is not parallel, for it measures
// the heap.
func TestSessionTokenOfDots(t *testing.T) {
	r := newDocumentHarness(t, nil)
	app, _ := r.embedded(t)
	for _, dots := range []int{sessiontoken.MaxLength, 10 << 20} {
		token := strings.Repeat(".", dots)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := r.VerifySessionToken(t.Context(), app, token, r.clock.Now())
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > sessiontoken.MaxLength {
			t.Errorf("%d dots: %d bytes, %v", dots, took, err)
		}
	}
}

// TX-02: what is refused about the claims, though we signed them.
func TestSessionTokenClaims_TX02(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	token := r.issue(t, r.Server, m)
	private, _ := r.privateKey(t)
	parts := strings.Split(token, ".")
	header, good := unb64(t, parts[0]), unb64(t, parts[1])
	now := harness.Start.Unix()
	type claims = map[string]any
	tests := []struct {
		name   string
		change claims // nil removes
		fine   bool
	}{
		{"as issued", nil, true},
		{"a claim of tomorrow", claims{"amr": []string{"pwd"}}, true},
		{"another issuer", claims{"iss": "https://evil.example"}, false},
		{"issuer with a slash", claims{"iss": "https://api.example.com/"}, false},
		{"issuer of the app host", claims{"iss": "https://app.example.com"}, false},
		{"no issuer", claims{"iss": nil}, false},
		{"another audience", claims{"aud": "cli_other"}, false},
		{"audience is the app's id", claims{"aud": app.ID}, false},
		{"two audiences", claims{"aud": []string{app.ClientID, "cli_other"}}, false},
		{"a list of one audience", claims{"aud": []string{app.ClientID}}, false},
		{"no audience", claims{"aud": nil}, false},
		{"empty audience", claims{"aud": ""}, false},
		{"no subject", claims{"sub": nil}, false},
		{"empty subject", claims{"sub": ""}, false},
		{"subject of a number", claims{"sub": 1}, false},
		{"no business", claims{"business_id": nil}, false},
		{"business of a list", claims{"business_id": []string{"biz_1"}}, false},
		{"business in another case", claims{"business_id": nil, "Business_ID": "biz_1"}, false},
		{"no session", claims{"sid": nil}, false},
		{"a long session", claims{"sid": strings.Repeat("s", 5<<10)}, true},
		{"a session so long that the token is too", claims{"sid": strings.Repeat("s", 6<<10)}, false},
		{"no jti", claims{"jti": nil}, false},
		{"jti without installation", claims{"jti": "abc"}, false},
		{"jti with an empty installation", claims{"jti": ".abc"}, false},
		{"jti without the random part", claims{"jti": "inst_1."}, false},
		{"no iat", claims{"iat": nil}, false},
		{"no exp", claims{"exp": nil}, false},
		{"exp of a string", claims{"exp": "1788264060"}, false},
		{"exp with a fraction", claims{"exp": float64(now) + 59.5}, false},
		{"exp null", claims{"exp": json.RawMessage("null")}, false},
		{"lives 61 s", claims{"exp": now + 61}, false},
		{"lives 61 s, half of it over", claims{"iat": now - 30, "exp": now + 31}, false},
		{"lives 60 s, half of it over", claims{"iat": now - 30, "exp": now + 30}, true},
		{"expires now", claims{"iat": now - 60, "exp": now}, false},
		{"expires in a second", claims{"iat": now - 59, "exp": now + 1}, true},
		{"expires before it begins", claims{"iat": now + 4, "exp": now + 3}, false},
		{"within the skew", claims{"iat": now + 5, "exp": now + 65}, true},
		{"beyond the skew", claims{"iat": now + 6, "exp": now + 66}, false},
		{"negative", claims{"iat": -1 << 63, "exp": now + 30}, false},
		{"out of range", claims{"iat": now, "exp": json.RawMessage("9223372036854775808")}, false},
		{"the largest", claims{"iat": now, "exp": json.RawMessage("9223372036854775807")}, false},
	}
	for _, test := range tests {
		c := maps.Clone(good)
		for name, value := range test.change {
			if value == nil {
				delete(c, name)
			} else {
				c[name] = value
			}
		}
		raw, err := json.Marshal(c)
		mustDo(t, err)
		_, err = r.VerifySessionToken(t.Context(), app, signRaw(t, private, header, string(raw)), r.clock.Now())
		if (err == nil) != test.fine || errors.Is(err, oauthserver.ErrInternal) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	good["aud"] = ""
	raw, err := json.Marshal(good)
	mustDo(t, err)
	if _, err := r.VerifySessionToken(t.Context(), partner.App{}, signRaw(t, private, header, string(raw)), r.clock.Now()); err == nil {
		t.Error("accepted for no app at all")
	}
}
