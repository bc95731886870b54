package oauthserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/partner"
)

func (k *apiHarness) introspect(token string) apiResponse {
	k.Helper()
	return k.post("/oauth/introspect", k.as(confidentialID), "token", token)
}

// inactive wants exactly {"active": false}.
func (a apiResponse) inactive() {
	a.Helper()
	a.ok("active")
	if a.body["active"] != false {
		a.Errorf("answer %s", a.Body)
	}
}

// INT-02, INT-04: a live token of either kind, with any hint.
func TestIntrospectActive(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, refresh := k.tokens(confidentialID)
	for _, hint := range []string{"", "access_token", "refresh_token", "x"} {
		for token, expires := range map[string]time.Duration{access: time.Hour, refresh: 30 * 24 * time.Hour} {
			got := k.post("/oauth/introspect", k.as(confidentialID), "token", token, "token_type_hint", hint).ok("active client_id exp scope sub")
			want := map[string]any{
				"active": true, "client_id": confidentialID, "scope": "invoices:read customers:read", "sub": apiUser,
				"exp": float64(harness.Start.Add(expires).Unix()),
			}
			if diff := cmp.Diff(want, got.body); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		}
	}
	// The scopes are those that hold now (API-03).
	k.Must(k.setScopes(k.app(confidentialID).ID, "customers:read", "payments:read"))
	for _, token := range []string{access, refresh} {
		if got := k.introspect(token); got.body["scope"] != "customers:read" {
			t.Errorf("scope %v", got.body["scope"])
		}
	}
}

// INT-03: every reason to be inactive.
func TestIntrospectInactive(t *testing.T) {
	t.Parallel()
	type harness = apiHarness
	for name, end := range map[string]func(k *harness, access, refresh string) error{
		"access revoked": func(k *harness, _, _ string) error {
			return k.OAuth.RevokeAccess(k.Context(), k.app(confidentialID).ID, apiBusiness, apiUser)
		},
		"uninstalled": func(k *harness, _, _ string) error {
			return k.OAuth.Uninstall(k.Context(), k.app(confidentialID).ID, apiBusiness, apiUser)
		},
		"consent revoked": func(k *harness, _, _ string) error {
			return k.OAuth.RevokeConsent(k.Context(), k.app(confidentialID).ID, apiBusiness, apiUser)
		},
		"user suspended": func(k *harness, _, _ string) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserSuspended)
		},
		"user restricted": func(k *harness, _, _ string) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserRestricted)
		},
		"left": func(k *harness, _, _ string) error { k.Host.RemoveBusiness(apiUser, apiBusiness); return nil },
		"app suspended": func(k *harness, _, _ string) error {
			return k.OAuth.SetAppStatus(k.Context(), k.app(confidentialID).ID, partner.AppSuspended)
		},
		"app deactivated": func(k *harness, _, _ string) error {
			return k.OAuth.SetAppStatus(k.Context(), k.app(confidentialID).ID, partner.AppDeactivated)
		},
		"expired": func(k *harness, _, _ string) error { k.Clock.Advance(30 * 24 * time.Hour); return nil },
		"family ended": func(k *harness, _, refresh string) error {
			k.post("/oauth/revoke", nil, "token", refresh).revoked()
			return nil
		},
		"used, rotated": func(k *harness, _, refresh string) error {
			k.refresh(confidentialID, refresh).ok(tokenMembers)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			access, refresh := k.tokens(confidentialID)
			k.Must(end(k, access, refresh))
			k.introspect(access).inactive()
			k.introspect(refresh).inactive()
		})
	}
	k := newAPIHarness(t)
	access, refresh := k.tokens(publicID)
	code := k.code(confidentialID, "")
	for _, token := range []string{access, refresh, code, "x", "ü", secret.New(secret.AccessToken).Reveal(), secret.New(secret.RefreshToken).Reveal()} {
		k.introspect(token).inactive()
	}
	// The second before the hour it is active, the hour itself it is not.
	access, refresh = k.tokens(confidentialID)
	k.Clock.Advance(time.Hour - time.Second)
	k.introspect(access).ok("active client_id exp scope sub")
	k.Clock.Advance(time.Second)
	k.introspect(access).inactive()
	k.introspect(refresh).ok("active client_id exp scope sub")
	k.post("/oauth/revoke", nil, "token", access).revoked()
	k.introspect(refresh).ok("active client_id exp scope sub")
}

// INT-01: credentials from the header only, of a confidential client.
func TestIntrospectRefuses(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, _ := k.tokens(confidentialID)
	suspended := k.addApp("cli_suspended", partner.Confidential)
	k.Must(k.OAuth.SetAppStatus(t.Context(), suspended.ID, partner.AppSuspended))
	for name, test := range map[string]struct {
		change apiRequest
		form   []string
	}{
		"nothing":                 {nil, nil},
		"in the body":             {nil, []string{"client_id", confidentialID, "client_secret", apiSecret}},
		"wrong secret":            {withBasic(confidentialID, "x"), nil},
		"no secret":               {withBasic(confidentialID, ""), nil},
		"secret in the body":      {withBasic(confidentialID, ""), []string{"client_secret", apiSecret}},
		"unknown":                 {withBasic("cli_nobody", apiSecret), nil},
		"public":                  {withBasic(publicID, ""), nil},
		"public with a secret":    {withBasic(publicID, "x"), nil},
		"suspended, wrong secret": {withBasic("cli_suspended", "x"), nil},
		"malformed":               {withHeader("Authorization", "Basic ="), nil},
		"an access token":         {withHeader("Authorization", "Bearer "+access), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := k.post("/oauth/introspect", test.change, append(test.form, "token", access)...)
			got.refused(http.StatusUnauthorized, "invalid_client", "client authentication failed")
		})
	}
	k.post("/oauth/introspect", k.as(confidentialID)).refused(http.StatusBadRequest, "invalid_request", "token is missing")
	k.post("/oauth/introspect", k.as(confidentialID), "token", access, "token", access).refused(http.StatusBadRequest, "invalid_request", "*")
	// Client parameters in the body are ignored.
	k.post("/oauth/introspect?client_id=x", k.as(confidentialID), "token", access, "client_id", "x", "client_id", "y", "client_secret", "z").
		ok("active client_id exp scope sub")
	k.post("/oauth/introspect", withBasic("cli_suspended", apiSecret), "token", access).inactive()
}
