package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/partner"
)

// revoked wants REV-02's response.
func (a apiResponse) revoked() {
	a.Helper()
	a.ok("")
	if a.Body != "{}" {
		a.Errorf("body %q", a.Body)
	}
}

// REV-01, REV-02, REV-03, REV-04, REV-06: which client may revoke which token, and which
// tokens end with it, with every hint.
func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owner  string
		change apiRequest
		form   []string
		dies   bool
	}{
		"confidential":                  {confidentialID, withBasic(confidentialID, apiSecret), nil, true},
		"confidential, body":            {confidentialID, nil, []string{"client_id", confidentialID, "client_secret", apiSecret}, true},
		"public, body":                  {publicID, nil, []string{"client_id", publicID}, true},
		"public, Basic":                 {publicID, withBasic(publicID, ""), nil, true},
		"nobody":                        {publicID, nil, nil, true},
		"no client, confidential token": {confidentialID, nil, nil, true},
		"public, of another":            {confidentialID, nil, []string{"client_id", publicID}, false},
		"confidential, of another":      {publicID, withBasic(confidentialID, apiSecret), nil, false},
		"beside a Bearer header":        {publicID, withHeader("Authorization", "Bearer x"), nil, true},
		"resource is not looked at":     {publicID, nil, []string{"resource", "x"}, true},
		"empty client_id is no client":  {publicID, nil, []string{"client_id", ""}, true},
	} {
		for _, hint := range []string{"", "access_token", "refresh_token", "nonsense"} {
			t.Run(name+" "+hint, func(t *testing.T) {
				t.Parallel()
				k := newAPIHarness(t)
				form := test.form
				if hint != "" {
					form = append([]string{"token_type_hint", hint}, form...)
				}
				// An access token alone.
				access, refresh := k.tokens(test.owner)
				k.post("/oauth/revoke", test.change, append([]string{"token", access}, form...)...).revoked()
				if k.isLive(access) == test.dies {
					t.Errorf("the access token is live: %t", !test.dies)
				}
				next := k.refresh(test.owner, refresh).ok(tokenMembers)
				// A refresh token with its family.
				k.post("/oauth/revoke", test.change, append([]string{"token", next.text("refresh_token")}, form...)...).revoked()
				if k.isLive(next.text("access_token")) == test.dies {
					t.Errorf("after the refresh token, the access token is live: %t", !test.dies)
				}
				if test.dies {
					k.refresh(test.owner, next.text("refresh_token")).dead("revoked")
					// REV-02: again is the same.
					k.post("/oauth/revoke", test.change, append([]string{"token", access}, form...)...).revoked()
					k.post("/oauth/revoke", test.change, append([]string{"token", refresh}, form...)...).revoked()
				}
			})
		}
	}
}

// REV-06: a used refresh token ends its family too.
func TestRevokeUsed(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, refresh := k.tokens(publicID)
	next := k.refresh(publicID, refresh).ok(tokenMembers)
	k.post("/oauth/revoke", k.as(publicID), "token", refresh).revoked()
	if k.isLive(next.text("access_token")) {
		t.Error("the family lives on")
	}
}

// REV-02: revoking a value that is not a live token is not an error.
func TestRevokeUnknown(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	code := k.code(publicID, apiChallenge)
	for _, token := range []string{
		"x", strings.Repeat("x", 4000), "ü", secret.New(secret.AccessToken).Reveal(), secret.New(secret.RefreshToken).Reveal(), code, " ",
	} {
		k.post("/oauth/revoke", k.as(publicID), "token", token).revoked()
	}
	k.redeem(publicID, code).ok(tokenMembers) // a code is not a token
	k.Clock.Advance(31 * 24 * time.Hour)
	k.post("/oauth/revoke", k.as(publicID), "token", secret.New(secret.AccessToken).Reveal()).revoked()
}

// REV-01, REV-03, REV-05: each refusal; the token lives on.
func TestRevokeRefuses(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, refresh := k.tokens(confidentialID)
	suspended := k.addApp("cli_suspended", partner.Public)
	k.Must(k.OAuth.SetAppStatus(t.Context(), suspended.ID, partner.AppSuspended))
	deactivated := k.addApp("cli_deactivated", partner.Confidential)
	k.Must(k.OAuth.SetAppStatus(t.Context(), deactivated.ID, partner.AppDeactivated))
	for name, test := range map[string]struct {
		change apiRequest
		form   []string
		status int
		code   string
	}{
		"only its client_id":        {nil, []string{"client_id", confidentialID}, 401, "invalid_client"},
		"only its client_id, Basic": {withBasic(confidentialID, ""), nil, 401, "invalid_client"},
		"wrong secret":              {withBasic(confidentialID, "x"), nil, 401, "invalid_client"},
		"public with a secret":      {withBasic(publicID, "x"), nil, 401, "invalid_client"},
		"unknown":                   {nil, []string{"client_id", "cli_nobody"}, 401, "invalid_client"},
		"suspended":                 {nil, []string{"client_id", "cli_suspended"}, 401, "invalid_client"},
		"deactivated":               {withBasic("cli_deactivated", apiSecret), nil, 401, "invalid_client"},
		"secret without client_id":  {nil, []string{"client_secret", apiSecret}, 401, "invalid_client"},
		"malformed Basic":           {withHeader("Authorization", "Basic x"), nil, 401, "invalid_client"},
		"token twice":               {nil, []string{"token", refresh}, 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.post("/oauth/revoke", test.change, append(test.form, "token", access)...)
			got.refused(test.status, test.code, "*")
		})
	}
	k.post("/oauth/revoke", nil).refused(http.StatusBadRequest, "invalid_request", "token is missing")
	k.post("/oauth/revoke", k.as(confidentialID), "token", "").refused(http.StatusBadRequest, "invalid_request", "token is missing")
	k.post("/oauth/revoke", withBasic(confidentialID, "x")).refused(http.StatusUnauthorized, "invalid_client", "*")
	if !k.isLive(access) {
		t.Error("a refused revocation revoked")
	}
}
