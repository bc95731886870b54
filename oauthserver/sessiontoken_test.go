package oauthserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
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
func (r *documentHarness) privateKey(t testing.TB) (*ecdsa.PrivateKey, string) {
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

// signRaw signs any bytes with ES256 under any header.
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
func TestIssueSessionToken_TX02_TX07(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	r.clock.Advance(700 * time.Millisecond) // times are whole seconds, rounded down
	token := r.issue(t, r.Server, m)
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
	got, err := r.VerifySessionToken(t.Context(), app, token, r.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	wantToken := oauthserver.SessionToken{
		ID: jti, UserID: "usr_1", BusinessID: "biz_1", SessionID: "ses_1", InstallationID: installation.ID, ExpiresAt: harness.Start.Add(time.Minute),
	}
	if diff := cmp.Diff(wantToken, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := r.issue(t, r.Server, m); again == token || unb64(t, strings.Split(again, ".")[1])["jti"] == jti {
		t.Error("two tokens share their jti")
	}
	byClient := m
	byClient.AppID, byClient.ClientID, byClient.SessionID = "", app.ClientID, ""
	got, err = r.VerifySessionToken(t.Context(), app, r.issue(t, r.Server, byClient), r.clock.Now())
	if err != nil || !strings.HasPrefix(got.SessionID, "ses_") {
		t.Errorf("by client_id, without a session: %+v, %v", got, err)
	}
}

// TX-01, TX-05, TX-07: the cases in which no session token is issued.
func TestIssueSessionTokenRefuses_TX05_TX07(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setUp func(t *testing.T, r *documentHarness, app partner.App, m *oauthserver.NewSessionToken)
		want  error
	}{
		{"unknown app", func(_ *testing.T, _ *documentHarness, _ partner.App, m *oauthserver.NewSessionToken) {
			m.AppID = "app_none"
		}, partner.ErrNotFound},
		{"no app", func(_ *testing.T, _ *documentHarness, _ partner.App, m *oauthserver.NewSessionToken) {
			m.AppID = ""
		}, partner.ErrNotFound},
		{"public", func(t *testing.T, r *documentHarness, _ partner.App, m *oauthserver.NewSessionToken) {
			public := r.app(t, func(a *partner.App) { a.Type = partner.Public })
			r.install(t, public, "biz_1", "usr_1")
			m.AppID = public.ID
		}, oauthserver.ErrPublicApp},
		{"suspended", func(t *testing.T, r *documentHarness, app partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
		}, oauthserver.ErrAppNotUsable},
		{"deactivated", func(t *testing.T, r *documentHarness, app partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))
		}, oauthserver.ErrAppNotUsable},
		{"another business", func(_ *testing.T, r *documentHarness, _ partner.App, m *oauthserver.NewSessionToken) {
			m.BusinessID = "biz_2"
			r.host.AddBusiness("usr_1", oauthserver.Business{ID: "biz_2"})
		}, oauthserver.ErrNotInstalled},
		{"uninstalled", func(t *testing.T, r *documentHarness, app partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.Uninstall(t.Context(), app.ID, "biz_1", "usr_1"))
		}, oauthserver.ErrNotInstalled},
		{"access revoked", func(t *testing.T, r *documentHarness, app partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.RevokeAccess(t.Context(), app.ID, "biz_1", "usr_1"))
		}, oauthserver.ErrNotInstalled},
		{"suspended user", func(t *testing.T, r *documentHarness, _ partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.SetUserStatus(t.Context(), "usr_1", identity.UserSuspended))
		}, oauthserver.ErrUserNotActive},
		{"restricted user", func(t *testing.T, r *documentHarness, _ partner.App, _ *oauthserver.NewSessionToken) {
			mustDo(t, r.SetUserStatus(t.Context(), "usr_1", identity.UserRestricted))
		}, oauthserver.ErrUserNotActive},
		{"no member", func(_ *testing.T, _ *documentHarness, _ partner.App, m *oauthserver.NewSessionToken) {
			m.UserID = "usr_2"
		}, oauthserver.ErrNotMember},
		{"the host fails", func(_ *testing.T, r *documentHarness, _ partner.App, _ *oauthserver.NewSessionToken) {
			r.host.SetError(errors.New("host is down"))
		}, oauthserver.ErrInternal},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newDocumentHarness(t, nil)
			app, m := r.embedded(t)
			test.setUp(t, r, app, &m)
			token, err := r.IssueSessionToken(t.Context(), m)
			if !errors.Is(err, test.want) || token != "" {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want != oauthserver.ErrInternal && errors.Is(err, oauthserver.ErrInternal) {
				t.Errorf("a refusal that is a fault: %v", err)
			}
		})
	}
	r := newDocumentHarness(t, nil)
	_, m := r.embedded(t)
	m.SessionID = strings.Repeat("x", sessiontoken.MaxLength)
	if token, err := r.IssueSessionToken(t.Context(), m); err == nil || token != "" || strings.Contains(err.Error(), "xx") {
		t.Errorf("a token that no verifier takes: %v", err)
	}
	m.UserID = ""
	if _, err := r.IssueSessionToken(t.Context(), m); err == nil {
		t.Error("issued without a user")
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TX-04: a storage error is an internal error, both when issuing and when verifying.
func TestSessionTokenFaults_TX04(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	token := r.issue(t, r.Server, m)
	for n := 1; ; n++ {
		node := r.node(t, nil)
		r.env.Tap.Arm(testdb.FaultError, n)
		_, err := node.IssueSessionToken(t.Context(), m)
		if !r.env.Tap.Struck() {
			if n < 4 {
				t.Errorf("issuing has %d statements", n-1)
			}
			break
		}
		if !errors.Is(err, oauthserver.ErrInternal) {
			t.Errorf("issue, statement %d: %v", n, err)
		}
	}
	node := r.node(t, nil)
	r.env.Tap.Arm(testdb.FaultError, 1)
	if _, err := node.VerifySessionToken(t.Context(), app, token, r.clock.Now()); !errors.Is(err, oauthserver.ErrInternal) {
		t.Errorf("verify: %v", err)
	}
	if _, err := node.VerifySessionToken(t.Context(), app, token, r.clock.Now()); err != nil {
		t.Errorf("verify, once it works again: %v", err)
	}
}

// TX-04: a token issued under an ended installation is rejected, even if the app is
// installed again before the token expires. A token is used once.
func TestSessionTokenIsBoundToItsInstallation_TX04(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	exchange := func(token string) oauthstore.Outcome {
		t.Helper()
		verified, err := r.VerifySessionToken(t.Context(), app, token, r.clock.Now())
		mustDo(t, err)
		issued, err := r.env.ExchangeSession(t.Context(), oauthstore.Exchange{
			TokenID: verified.ID, ExpiresAt: verified.ExpiresAt, AppID: app.ID, BusinessID: verified.BusinessID,
			UserID: verified.UserID, InstallationID: verified.InstallationID,
		}, documentTokens(r.clock.Now()))
		mustDo(t, err)
		return issued.Outcome
	}
	kept, old := r.issue(t, r.Server, m), r.issue(t, r.Server, m)
	if got := exchange(kept); got != oauthstore.Issued {
		t.Errorf("first use: %s", got)
	}
	if got := exchange(kept); got != oauthstore.Lost {
		t.Errorf("second use: %s", got)
	}
	mustDo(t, r.Uninstall(t.Context(), app.ID, "biz_1", "usr_1"))
	if got := exchange(old); got != oauthstore.Dead {
		t.Errorf("after the uninstall: %s", got)
	}
	r.clock.Advance(time.Second)
	r.install(t, app, "biz_1", "usr_1")
	if got := exchange(r.issue(t, r.Server, m)); got != oauthstore.Issued {
		t.Errorf("issued under the new one: %s", got)
	}
	if got := exchange(old); got == oauthstore.Issued {
		t.Errorf("issued under the old one: %s", got)
	}
}
