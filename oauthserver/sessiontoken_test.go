package oauthserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

func unb64(t testing.TB, text string) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		t.Fatal(err)
	}
	return members
}

func b64(t testing.TB, members map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func forgeHeader(t testing.TB, header string, change func(map[string]any)) string {
	t.Helper()
	members := unb64(t, header)
	change(members)
	return b64(t, members)
}

// privateKey opens the key that signs, as only the host can.
func (r *docRig) privateKey(t testing.TB) (*ecdsa.PrivateKey, string) {
	t.Helper()
	keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
	if err != nil || len(keys) == 0 {
		t.Fatal(len(keys), err)
	}
	raw, err := r.cfg.Keyring.Open(keyring.Place{Table: "partnerkit_signing_key", Row: keys[0].ID}, keys[0].Sealed)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return private, keys[0].ID
}

// signRaw signs whatever bytes with ES256 under whatever header.
func signRaw(t testing.TB, private *ecdsa.PrivateKey, header map[string]any, payload string) string {
	t.Helper()
	input := b64(t, header) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	digest := sha256Of(input)
	a, b, err := ecdsa.Sign(rand.Reader, private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...)
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// TX-02, TX-07: exactly the claims and the header, a minute to live.
func TestMintSessionToken_TX02_TX07(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, nil)
	app, m := r.embedded(t)
	r.clock.Advance(700 * time.Millisecond) // times are whole seconds, rounded down
	token := r.mint(t, r.Server, m)
	parts := strings.Split(token, ".")
	header := unb64(t, parts[0])
	if diff := cmp.Diff(map[string]any{"alg": "ES256", "typ": "JWT", "kid": header["kid"]}, header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	claims := unb64(t, parts[1])
	jti, _ := claims["jti"].(string)
	want := map[string]any{
		"iss": "https://api.example.com", "aud": app.ClientID, "sub": "usr_1", "business_id": "biz_1", "sid": "ses_1", "jti": jti,
		"iat": json.Number("1788264000"), "exp": json.Number("1788264060"),
	}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	installation, err := r.env.ActiveInstallation(t.Context(), app.ID, "biz_1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.SessionVerifier().VerifySessionToken(t.Context(), app, token, r.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	wantToken := oauthserver.SessionToken{
		ID: jti, UserID: "usr_1", BusinessID: "biz_1", SessionID: "ses_1", InstallationID: installation.ID, ExpiresAt: rigStart.Add(time.Minute),
	}
	if diff := cmp.Diff(wantToken, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := r.mint(t, r.Server, m); again == token || unb64(t, strings.Split(again, ".")[1])["jti"] == jti {
		t.Error("two tokens share their jti")
	}
	byClient := m
	byClient.AppID, byClient.ClientID, byClient.SessionID = "", app.ClientID, ""
	got, err = r.SessionVerifier().VerifySessionToken(t.Context(), app, r.mint(t, r.Server, byClient), r.clock.Now())
	if err != nil || !strings.HasPrefix(got.SessionID, "ses_") {
		t.Errorf("by client_id, without a session: %+v, %v", got, err)
	}
}

// TX-01, TX-05, TX-07: for whom none is minted.
func TestMintSessionTokenRefuses_TX05_TX07(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setUp func(t *testing.T, r *docRig, app oauthserver.App, m *oauthserver.MintSession)
		want  error
	}{
		{"nobody's app", func(_ *testing.T, _ *docRig, _ oauthserver.App, m *oauthserver.MintSession) { m.AppID = "app_none" }, oauthserver.ErrNotFound},
		{"no app", func(_ *testing.T, _ *docRig, _ oauthserver.App, m *oauthserver.MintSession) { m.AppID = "" }, oauthserver.ErrNotFound},
		{"public", func(t *testing.T, r *docRig, _ oauthserver.App, m *oauthserver.MintSession) {
			public := r.app(t, func(a *oauthserver.App) { a.Type = oauthserver.Public })
			r.install(t, public, "biz_1", "usr_1")
			m.AppID = public.ID
		}, oauthserver.ErrPublicApp},
		{"suspended", func(t *testing.T, r *docRig, app oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.SetAppStatus(t.Context(), app.ID, oauthserver.AppSuspended))
		}, oauthserver.ErrAppNotUsable},
		{"deactivated", func(t *testing.T, r *docRig, app oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.SetAppStatus(t.Context(), app.ID, oauthserver.AppDeactivated))
		}, oauthserver.ErrAppNotUsable},
		{"another business", func(_ *testing.T, r *docRig, _ oauthserver.App, m *oauthserver.MintSession) {
			m.BusinessID = "biz_2"
			r.host.join("biz_2", "usr_1")
		}, oauthserver.ErrNotInstalled},
		{"uninstalled", func(t *testing.T, r *docRig, app oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.Uninstall(t.Context(), app.ID, "biz_1"))
		}, oauthserver.ErrNotInstalled},
		{"access revoked", func(t *testing.T, r *docRig, app oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.RevokeAccess(t.Context(), app.ID, "biz_1"))
		}, oauthserver.ErrNotInstalled},
		{"suspended user", func(t *testing.T, r *docRig, _ oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.SetUserStatus(t.Context(), "usr_1", oauthserver.UserSuspended))
		}, oauthserver.ErrUserNotActive},
		{"restricted user", func(t *testing.T, r *docRig, _ oauthserver.App, _ *oauthserver.MintSession) {
			mustDo(t, r.SetUserStatus(t.Context(), "usr_1", oauthserver.UserRestricted))
		}, oauthserver.ErrUserNotActive},
		{"no member", func(_ *testing.T, _ *docRig, _ oauthserver.App, m *oauthserver.MintSession) { m.UserID = "usr_2" }, oauthserver.ErrNotMember},
		{"the host fails", func(_ *testing.T, r *docRig, _ oauthserver.App, _ *oauthserver.MintSession) {
			r.host.set(errors.New("host is down"))
		}, oauthserver.ErrFault},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newDocRig(t, nil)
			app, m := r.embedded(t)
			test.setUp(t, r, app, &m)
			token, err := r.MintSessionToken(t.Context(), m)
			if !errors.Is(err, test.want) || token != "" {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want != oauthserver.ErrFault && errors.Is(err, oauthserver.ErrFault) {
				t.Errorf("a refusal that is a fault: %v", err)
			}
		})
	}
	r := newDocRig(t, nil)
	_, m := r.embedded(t)
	m.SessionID = strings.Repeat("x", oauthserver.MaxSessionToken)
	if token, err := r.MintSessionToken(t.Context(), m); err == nil || token != "" || strings.Contains(err.Error(), "xx") {
		t.Errorf("a token that no verifier takes: %v", err)
	}
	m.UserID = ""
	if _, err := r.MintSessionToken(t.Context(), m); err == nil {
		t.Error("minted for nobody")
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TX-04: a store that fails is a fault, when minting and when verifying.
func TestSessionTokenFaults_TX04(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, nil)
	app, m := r.embedded(t)
	token := r.mint(t, r.Server, m)
	for n := 1; ; n++ {
		node := r.node(t, nil)
		r.env.Tap.Arm(storetest.FaultError, n)
		_, err := node.MintSessionToken(t.Context(), m)
		if !r.env.Tap.Struck() {
			if n < 4 {
				t.Errorf("minting has %d statements", n-1)
			}
			break
		}
		if !errors.Is(err, oauthserver.ErrFault) {
			t.Errorf("mint, statement %d: %v", n, err)
		}
	}
	node := r.node(t, nil)
	r.env.Tap.Arm(storetest.FaultError, 1)
	if _, err := node.SessionVerifier().VerifySessionToken(t.Context(), app, token, r.clock.Now()); !errors.Is(err, oauthserver.ErrFault) {
		t.Errorf("verify: %v", err)
	}
	if _, err := node.SessionVerifier().VerifySessionToken(t.Context(), app, token, r.clock.Now()); err != nil {
		t.Errorf("verify, once it works again: %v", err)
	}
}

// TX-02: what is refused about the text, the header and the signature.
func TestSessionTokenForgeries_TX02(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, nil)
	app, m := r.embedded(t)
	token := r.mint(t, r.Server, m)
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

	tests := map[string]string{
		"empty":                       "",
		"no JWT":                      "session",
		"one dot":                     parts[0] + "." + parts[1],
		"three dots":                  token + ".x",
		"many dots":                   strings.Repeat(".", oauthserver.MaxSessionToken),
		"many more dots":              strings.Repeat(".", 10<<20),
		"oversized":                   token + strings.Repeat("A", oauthserver.MaxSessionToken),
		"padding":                     parts[0] + "=." + parts[1] + "." + parts[2],
		"newline":                     parts[0] + "\n." + parts[1] + "." + parts[2],
		"space before":                " " + token,
		"JSON serialization":          `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		"no signature":                parts[0] + "." + parts[1] + ".",
		"another signature":           parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86),
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
		"somebody else's key":         signRaw(t, stranger, header, string(payload)),
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
	verifier := r.SessionVerifier()
	for name, forged := range tests {
		got, err := verifier.VerifySessionToken(t.Context(), app, forged, r.clock.Now())
		if err == nil || errors.Is(err, oauthserver.ErrFault) || got != (oauthserver.SessionToken{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for _, part := range strings.Split(forged, ".") {
			if len(part) > 7 && len(forged) < 2*oauthserver.MaxSessionToken && strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error repeats the token: %v", name, err)
			}
		}
	}
	// The tool above can make a good one, so the refusals have the reasons they say.
	if _, err := verifier.VerifySessionToken(t.Context(), app, signRaw(t, private, header, string(payload)), r.clock.Now()); err != nil {
		t.Errorf("signed by hand: %v", err)
	}
}

// TX-02: what is refused about the claims, though we signed them.
func TestSessionTokenClaims_TX02(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, nil)
	app, m := r.embedded(t)
	token := r.mint(t, r.Server, m)
	private, _ := r.privateKey(t)
	parts := strings.Split(token, ".")
	header, good := unb64(t, parts[0]), unb64(t, parts[1])
	now := rigStart.Unix()
	type claims = map[string]any
	tests := []struct {
		name   string
		change claims // nil removes
		fine   bool
	}{
		{"as minted", nil, true},
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
		_, err = r.SessionVerifier().VerifySessionToken(t.Context(), app, signRaw(t, private, header, string(raw)), r.clock.Now())
		if (err == nil) != test.fine || errors.Is(err, oauthserver.ErrFault) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := r.SessionVerifier().VerifySessionToken(t.Context(), oauthserver.App{}, token, r.clock.Now()); err == nil {
		t.Error("accepted for no app at all")
	}
}

// TX-04: a token minted under an installation that ended is refused, also when the
// app is installed again before it expires; and one is used once.
func TestSessionTokenIsBoundToItsInstallation_TX04(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, nil)
	app, m := r.embedded(t)
	exchange := func(token string) oauthserver.Outcome {
		t.Helper()
		verified, err := r.SessionVerifier().VerifySessionToken(t.Context(), app, token, r.clock.Now())
		mustDo(t, err)
		minted, err := r.env.ExchangeSession(t.Context(), oauthserver.Exchange{
			TokenID: verified.ID, ExpiresAt: verified.ExpiresAt, AppID: app.ID, BusinessID: verified.BusinessID,
			UserID: verified.UserID, InstallationID: verified.InstallationID,
		}, rigMint(r.clock.Now()))
		mustDo(t, err)
		return minted.Outcome
	}
	kept, old := r.mint(t, r.Server, m), r.mint(t, r.Server, m)
	if got := exchange(kept); got != oauthserver.Issued {
		t.Errorf("first use: %s", got)
	}
	if got := exchange(kept); got != oauthserver.Lost {
		t.Errorf("second use: %s", got)
	}
	mustDo(t, r.Uninstall(t.Context(), app.ID, "biz_1"))
	if got := exchange(old); got != oauthserver.Dead {
		t.Errorf("after the uninstall: %s", got)
	}
	r.clock.Advance(time.Second)
	r.install(t, app, "biz_1", "usr_1")
	if got := exchange(r.mint(t, r.Server, m)); got != oauthserver.Issued {
		t.Errorf("minted under the new one: %s", got)
	}
	if got := exchange(old); got == oauthserver.Issued {
		t.Errorf("minted under the old one: %s", got)
	}
}
