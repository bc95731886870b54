package oauthserver_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/partner"
)

// API-02, API-03: the principal of a call is read with one statement and not cached.
func TestVerifyAccessToken(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, _ := k.tokens(confidentialID)
	app := k.app(confidentialID)
	installation, err := k.Store.ActiveInstallation(t.Context(), app.ID, apiBusiness)
	k.Must(err)
	for range 2 {
		k.Store.Tap.Reset()
		got, err := k.OAuth.VerifyAccessToken(t.Context(), access)
		if statements, commits := k.Store.Tap.Counts(); statements != 1 || commits != 0 {
			t.Errorf("%d statements, %d commits", statements, commits)
		}
		want := identity.Principal{
			AppID: app.ID, ClientID: confidentialID, InstallationID: installation.ID, BusinessID: apiBusiness, UserID: apiUser,
			Scopes: apiScopes(), SignIn: identity.SignInOAuth,
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("principal, %v (-want +got):\n%s", err, diff)
		}
	}
	// VER-01: the app's pin comes with the same statement.
	_, err = k.Store.UpdateApp(t.Context(), app.ID, func(a partner.App) (partner.App, error) {
		a.PinnedVersion = "2026-01-15"
		return a, nil
	})
	k.Must(err)
	if got, err := k.OAuth.VerifyAccessToken(t.Context(), access); err != nil || got.Version != "2026-01-15" {
		t.Errorf("version %q, %v", got.Version, err)
	}
	// A live token never gains a scope, and loses those that its app or its
	// installation has lost.
	k.Must(k.setScopes(app.ID, "customers:read", "payments:read"))
	k.Must(k.setAppScopes(app.ID, "customers:read", "payments:read", "invoices:read"))
	if got, err := k.OAuth.VerifyAccessToken(t.Context(), access); err != nil || got.Scopes.String() != "customers:read" {
		t.Errorf("scopes %v, %v", got.Scopes, err)
	}
}

// API-11: the reason is the first that applies. Nothing but the app, a refresh and a replay
// revokes a token.
func TestVerifyReasons(t *testing.T) {
	t.Parallel()
	wantReason := func(t *testing.T, k *apiHarness, access, want string) {
		t.Helper()
		_, err := k.OAuth.VerifyAccessToken(t.Context(), access)
		var invalid *identity.InvalidTokenError
		if !errors.As(err, &invalid) || invalid.Reason != want || !errors.Is(err, identity.ErrInvalidToken) {
			t.Errorf("%v, want the reason %q", err, want)
		}
	}
	const (
		revoked      = "the access token was revoked"
		expired      = "the access token expired"
		refused      = "the app may not call the API now"
		disconnected = "the business has disconnected the app"
	)
	for name, end := range map[string]func(k *apiHarness, access, refresh, code string){
		"by the app":                  func(k *apiHarness, access, _, _ string) { k.post("/oauth/revoke", nil, "token", access) },
		"by the app, with the family": func(k *apiHarness, _, refresh, _ string) { k.post("/oauth/revoke", nil, "token", refresh) },
		"by a refresh":                func(k *apiHarness, _, refresh, _ string) { k.refresh(confidentialID, refresh).ok(tokenMembers) },
		"by a replay of the code":     func(k *apiHarness, _, _, code string) { k.redeem(confidentialID, code).dead("code already used") },
	} {
		t.Run("API-11_revoked "+name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			code := k.code(confidentialID, apiChallenge)
			tokens := k.redeem(confidentialID, code).ok(tokenMembers)
			end(k, tokens.text("access_token"), tokens.text("refresh_token"), code)
			wantReason(t, k, tokens.text("access_token"), revoked)
		})
	}
	t.Run("API-11_revoked by a replay", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t)
		_, first := k.tokens(confidentialID)
		second := k.refresh(confidentialID, first).ok(tokenMembers)
		k.refresh(confidentialID, first).dead("refresh token reuse detected")
		wantReason(t, k, second.text("access_token"), revoked)
	})
	for name, test := range map[string]struct {
		user, connection func(k *apiHarness, app partner.App) error
	}{
		"suspended, uninstalled": {
			func(k *apiHarness, _ partner.App) error {
				return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserSuspended)
			},
			func(k *apiHarness, a partner.App) error {
				return k.OAuth.Uninstall(k.Context(), a.ID, apiBusiness, apiUser)
			},
		},
		"restricted, access revoked": {
			func(k *apiHarness, _ partner.App) error {
				return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserRestricted)
			},
			func(k *apiHarness, a partner.App) error {
				return k.OAuth.RevokeAccess(k.Context(), a.ID, apiBusiness, apiUser)
			},
		},
		"no member, consent revoked": {
			func(k *apiHarness, _ partner.App) error { k.Host.RemoveBusiness(apiUser, apiBusiness); return nil },
			func(k *apiHarness, a partner.App) error {
				return k.OAuth.RevokeConsent(k.Context(), a.ID, apiBusiness, apiUser)
			},
		},
	} {
		t.Run("API-11_order "+name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			access, _ := k.tokens(confidentialID)
			app := k.app(confidentialID)
			k.Must(test.user(k, app))
			wantReason(t, k, access, deniedUser)
			k.Must(test.connection(k, app))
			wantReason(t, k, access, disconnected)
			k.Must(k.OAuth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
			wantReason(t, k, access, refused)
			k.Must(k.OAuth.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))
			wantReason(t, k, access, refused)
			k.Clock.Advance(time.Hour)
			wantReason(t, k, access, expired)
			k.post("/oauth/revoke", nil, "token", access)
			wantReason(t, k, access, revoked)
			for range 3 {
				k.Clock.Advance(24 * time.Hour)
				k.OAuth.Tidy(t.Context())
			}
			if _, err := k.OAuth.VerifyAccessToken(t.Context(), access); !errors.Is(err, identity.ErrInvalidToken) || errors.As(err, new(*identity.InvalidTokenError)) {
				t.Errorf("a purged token: %v", err)
			}
		})
	}
	t.Run("API-11_an erased user", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t)
		k.install(confidentialID)
		access, _ := k.tokens(confidentialID)
		exchanged := k.exchange(sessionToken("1")).text("access_token")
		_, err := k.OAuth.EraseUser(t.Context(), apiUser)
		k.Must(err)
		wantReason(t, k, access, disconnected)
		wantReason(t, k, exchanged, deniedUser)
	})
}

// API-01, API-09, TOK-09: every dead token gives the same error; an internal error is
// another.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, refresh := k.tokens(confidentialID)
	forged := secret.NewToken(secret.AccessToken, secret.Wrap(access).TokenID()).Reveal() // it names the record, and proves nothing
	for _, token := range []string{"", "x", refresh, forged, secret.New(secret.AccessToken).Reveal(), access + "x", access[:len(access)-1], "Bearer " + access} {
		if _, err := k.OAuth.VerifyAccessToken(t.Context(), token); !errors.Is(err, identity.ErrInvalidToken) {
			t.Errorf("token of %d bytes: %v", len(token), err)
		}
	}
	k.Clock.Advance(time.Hour - time.Second)
	if !k.isLive(access) {
		t.Error("dead a second too early")
	}
	k.Host.SetError(errors.New("the host is down"))
	if _, err := k.OAuth.VerifyAccessToken(t.Context(), access); err == nil || errors.Is(err, identity.ErrInvalidToken) {
		t.Errorf("a fault of the host: %v", err)
	}
	k.Host.SetError(nil)
	k.Clock.Advance(time.Second)
	if k.isLive(access) {
		t.Error("live at the hour itself")
	}
}
