package assertion_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
)

const (
	client = "https://agent.example/client.json"
	issuer = "https://api.example.com"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// The keys of the tests.
var (
	ecKey       = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	otherKey    = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	p384Key     = must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	rsaKey      = must(rsa.GenerateKey(rand.Reader, 2048))
	_, edKey, _ = ed25519.GenerateKey(rand.Reader)
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

type members = map[string]any

func goodClaims() members {
	return members{"iss": client, "sub": client, "aud": issuer, "jti": "one", "exp": noon.Unix() + 60}
}

func with(base members, change members) members {
	base = maps.Clone(base)
	for name, value := range change {
		if value == nil {
			delete(base, name)
		} else {
			base[name] = value
		}
	}
	return base
}

func sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, keyID string, claims any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: keyID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return must(must(signer.Sign(must(json.Marshal(claims)))).CompactSerialize())
}

// set is a JWK Set of public keys.
func set(t testing.TB, keys ...jose.JSONWebKey) assertion.Keys {
	t.Helper()
	parsed, err := assertion.ParseKeys(must(json.Marshal(jose.JSONWebKeySet{Keys: keys})))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func public(key crypto.Signer, keyID string) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: keyID}
}

func check(raw string, keys assertion.Keys) error {
	a, err := assertion.Parse(raw)
	if err != nil {
		return err
	}
	if err := a.Check(client, []string{issuer, issuer + "/oauth/token"}, noon); err != nil {
		return err
	}
	return a.Verify(keys)
}

func TestClaims(t *testing.T) {
	t.Parallel()
	keys := set(t, public(ecKey, "k"))
	at := noon.Unix()
	for name, test := range map[string]struct {
		claims members
		fine   bool
	}{
		"CIMD-05 good":                  {nil, true},
		"CIMD-05 aud token endpoint":    {members{"aud": issuer + "/oauth/token"}, true},
		"CIMD-05 aud in a list":         {members{"aud": []string{"https://other.example", issuer}}, true},
		"CIMD-05 aud absent":            {members{"aud": nil}, false},
		"CIMD-05 aud empty":             {members{"aud": []string{}}, false},
		"CIMD-05 aud another server":    {members{"aud": "https://other.example"}, false},
		"CIMD-05 aud that begins alike": {members{"aud": issuer + ".evil.example"}, false},
		"CIMD-05 aud a number":          {members{"aud": 1}, false},
		"CIMD-05 exp in exactly 300 s":  {members{"exp": at + 300}, true},
		"CIMD-05 exp in 301 s":          {members{"exp": at + 301}, false},
		"CIMD-05 exp in a year":         {members{"exp": at + 365*24*3600}, false},
		"CIMD-05 exp beyond all times":  {members{"exp": math.MaxFloat64}, false},
		"CIMD-05 exp with a fraction":   {members{"exp": float64(at) + 59.5}, true},
		"CIMD-05 exp 30 s ago":          {members{"exp": at - 30}, true},
		"CIMD-05 exp 31 s ago":          {members{"exp": at - 31}, false},
		"CIMD-05 exp zero":              {members{"exp": 0}, false},
		"CIMD-05 exp absent":            {members{"exp": nil}, false},
		"CIMD-05 exp null":              {members{"exp": json.RawMessage("null")}, false},
		"CIMD-05 exp a text":            {members{"exp": "1"}, false},
		"CIMD-05 nbf in 30 s":           {members{"nbf": at + 30}, true},
		"CIMD-05 nbf in 31 s":           {members{"nbf": at + 31}, false},
		"CIMD-05 iat in 30 s":           {members{"iat": at + 30}, true},
		"CIMD-05 iat in 31 s":           {members{"iat": at + 31}, false},
		"CIMD-05 jti absent":            {members{"jti": nil}, false},
		"CIMD-05 jti empty":             {members{"jti": ""}, false},
		"CIMD-05 jti a number":          {members{"jti": 1}, false},
		"CIMD-05 iss absent":            {members{"iss": nil}, false},
		"CIMD-05 sub absent":            {members{"sub": nil}, false},
		"CIMD-05 iss of another":        {members{"iss": "https://other.example/c"}, false},
		"CIMD-05 both of another":       {members{"iss": "https://other.example/c", "sub": "https://other.example/c"}, false},
		"CIMD-05 sub with a NUL":        {members{"iss": "a\x00", "sub": "a\x00"}, false},
		"CIMD-05 unknown claims":        {members{"scope": "x", "extra": members{"a": 1}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := sign(t, jose.ES256, ecKey, "k", with(goodClaims(), test.claims))
			if err := check(raw, keys); (err == nil) != test.fine {
				t.Errorf("%v", err)
			}
		})
	}
}

// CIMD-05: which algorithm, with which key.
func TestSignatures(t *testing.T) {
	t.Parallel()
	claims := goodClaims()
	spki := must(x509.MarshalPKIXPublicKey(rsaKey.Public()))
	ec, rs, ed := public(ecKey, "ec"), public(rsaKey, "rs"), public(edKey, "ed")
	all := []jose.JSONWebKey{ec, rs, ed}
	use := func(key jose.JSONWebKey, use, algorithm string) []jose.JSONWebKey {
		key.Use, key.Algorithm = use, algorithm
		return []jose.JSONWebKey{key, public(otherKey, "other")}
	}
	plain := func(header, payload any, signature string) string {
		encode := base64.RawURLEncoding.EncodeToString
		return encode(must(json.Marshal(header))) + "." + encode(must(json.Marshal(payload))) + "." + signature
	}
	good := sign(t, jose.ES256, ecKey, "ec", claims)
	parts := strings.Split(good, ".")
	for name, test := range map[string]struct {
		raw  string
		keys []jose.JSONWebKey
		fine bool
	}{
		"CIMD-05 ES256":                       {good, all, true},
		"CIMD-05 RS256":                       {sign(t, jose.RS256, rsaKey, "rs", claims), all, true},
		"CIMD-05 PS256":                       {sign(t, jose.PS256, rsaKey, "rs", claims), all, true},
		"CIMD-05 EdDSA":                       {sign(t, jose.EdDSA, edKey, "ed", claims), all, true},
		"CIMD-05 no kid":                      {sign(t, jose.EdDSA, edKey, "", claims), all, true},
		"CIMD-05 no kid, two of one type":     {sign(t, jose.ES256, ecKey, "", claims), []jose.JSONWebKey{public(otherKey, ""), ec}, true},
		"CIMD-05 no kid, no such key":         {sign(t, jose.ES256, otherKey, "", claims), all, false},
		"CIMD-05 unknown kid":                 {sign(t, jose.ES256, ecKey, "new", claims), all, false},
		"CIMD-05 kid of another key":          {sign(t, jose.ES256, ecKey, "rs", claims), all, false},
		"CIMD-05 another client's key":        {sign(t, jose.ES256, otherKey, "ec", claims), all, false},
		"CIMD-05 ES384":                       {sign(t, jose.ES384, p384Key, "p", claims), []jose.JSONWebKey{public(p384Key, "p"), ec}, false},
		"CIMD-05 RS512":                       {sign(t, jose.RS512, rsaKey, "rs", claims), all, false},
		"CIMD-05 HS256 with the public key":   {sign(t, jose.HS256, spki, "rs", claims), all, false},
		"CIMD-05 none":                        {plain(members{"alg": "none"}, claims, ""), all, false},
		"CIMD-05 none in another case":        {plain(members{"alg": "NonE", "kid": "ec"}, claims, parts[2]), all, false},
		"CIMD-05 no algorithm":                {plain(members{"kid": "ec"}, claims, parts[2]), all, false},
		"CIMD-05 crit":                        {plain(members{"alg": "ES256", "kid": "ec", "crit": []string{"b64"}, "b64": false}, claims, parts[2]), all, false},
		"CIMD-05 other claims":                {parts[0] + "." + strings.Split(sign(t, jose.ES256, otherKey, "ec", with(claims, members{"jti": "two"})), ".")[1] + "." + parts[2], all, false},
		"CIMD-05 no signature":                {parts[0] + "." + parts[1] + ".", all, false},
		"CIMD-05 two parts":                   {parts[0] + "." + parts[1], all, false},
		"CIMD-05 JSON form":                   {`{"payload":"` + parts[1] + `"}`, all, false},
		"CIMD-05 too long":                    {sign(t, jose.ES256, ecKey, "ec", with(claims, members{"x": strings.Repeat("a", 8<<10)})), all, false},
		"CIMD-05 a key for encryption":        {good, use(ec, "enc", ""), false},
		"CIMD-05 a key for signatures":        {good, use(ec, "sig", "ES256"), true},
		"CIMD-05 a key of another algorithm":  {sign(t, jose.RS256, rsaKey, "rs", claims), use(rs, "sig", "PS256"), false},
		"CIMD-05 a key of the header is none": {withHeaderKey(t, claims), all, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := check(test.raw, set(t, test.keys...)); (err == nil) != test.fine {
				t.Errorf("%v", err)
			}
		})
	}
}

// withHeaderKey is an assertion that brings its own key along.
func withHeaderKey(t testing.TB, claims any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: otherKey}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	return must(must(signer.Sign(must(json.Marshal(claims)))).CompactSerialize())
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	encode := func(keys ...any) string { return string(must(json.Marshal(members{"keys": keys}))) }
	many := make([]any, 51)
	for i := range many {
		many[i] = public(ecKey, "")
	}
	small := must(rsa.GenerateKey(rand.Reader, 1024))
	for name, test := range map[string]struct {
		raw  string
		fine bool
	}{
		"CIMD-05 public":                 {encode(public(ecKey, "k")), true},
		"CIMD-05 unknown types skipped":  {encode(members{"kty": "XYZ"}, public(p384Key, "p"), public(ecKey, "k")), true},
		"CIMD-05 50 keys":                {encode(many[:50]...), true},
		"CIMD-05 51 keys":                {encode(many...), false},
		"CIMD-05 none":                   {encode(), false},
		"CIMD-05 none that is supported": {encode(public(p384Key, "p")), false},
		"CIMD-05 a private key":          {encode(jose.JSONWebKey{Key: ecKey, KeyID: "k"}, public(edKey, "e")), false},
		"CIMD-05 a private RSA key":      {encode(jose.JSONWebKey{Key: rsaKey, KeyID: "k"}), false},
		"CIMD-05 a symmetric key":        {encode(jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef")}, public(ecKey, "k")), false},
		"CIMD-05 a short RSA key":        {encode(public(small, "s")), false},
		"CIMD-05 no set":                 {`[]`, false},
		"CIMD-05 no keys":                {`{}`, false},
		"CIMD-05 keys of the wrong type": {`{"keys":[1]}`, false},
		"CIMD-05 keys twice":             {`{"keys":[],"keys":[]}`, false},
		"CIMD-05 HTML":                   {`<html>`, false},
		"CIMD-05 too long":               {encode(public(ecKey, strings.Repeat("k", 64<<10))), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := assertion.ParseKeys([]byte(test.raw)); (err == nil) != test.fine {
				t.Errorf("%v", err)
			}
		})
	}
}

// FuzzParse: no text that is not signed by a key of the client passes (CIMD-05).
func FuzzParse(f *testing.F) {
	f.Add(sign(f, jose.ES256, ecKey, "k", goodClaims()))
	f.Add(withHeaderKey(f, goodClaims()))
	f.Add("e30.e30.")
	keys := set(f, public(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "k"), public(edKey, ""))
	f.Fuzz(func(t *testing.T, raw string) {
		if check(raw, keys) == nil {
			t.Errorf("%q passed", raw)
		}
	})
}
