package oauthserver_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// API-02, API-03: the principal of a call is read with one statement and not cached.
func TestVerifyAccessToken(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, _ := k.tokens(confidentialID)
	app := k.app(confidentialID)
	installation, err := k.store.ActiveInstallation(t.Context(), app.ID, apiBusiness)
	k.must(err)
	for range 2 {
		k.store.Tap.Reset()
		got, err := k.server.VerifyAccessToken(t.Context(), access)
		if statements, commits := k.store.Tap.Counts(); statements != 1 || commits != 0 {
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
	_, err = k.store.UpdateApp(t.Context(), app.ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.PinnedVersion = "2026-01-15"
		return a, nil
	})
	k.must(err)
	if got, err := k.server.VerifyAccessToken(t.Context(), access); err != nil || got.Version != "2026-01-15" {
		t.Errorf("version %q, %v", got.Version, err)
	}
	// A live token never gains a scope, and loses those that its app or its
	// installation has lost.
	k.must(k.setScopes(app.ID, "customers:read", "payments:read"))
	k.must(k.setAppScopes(app.ID, "customers:read", "payments:read", "invoices:read"))
	if got, err := k.server.VerifyAccessToken(t.Context(), access); err != nil || got.Scopes.String() != "customers:read" {
		t.Errorf("scopes %v, %v", got.Scopes, err)
	}
}

// API-01, API-09, TOK-09: every dead token gives the same error; an internal error is
// another.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, refresh := k.tokens(confidentialID)
	forged := secret.NewToken(secret.AccessToken, secret.Wrap(access).TokenID()).Reveal() // it names the record, and proves nothing
	for _, token := range []string{"", "x", refresh, forged, secret.New(secret.AccessToken).Reveal(), access + "x", access[:len(access)-1], "Bearer " + access} {
		if _, err := k.server.VerifyAccessToken(t.Context(), token); !errors.Is(err, oauthserver.ErrInvalidToken) {
			t.Errorf("token of %d bytes: %v", len(token), err)
		}
	}
	k.clock.Advance(time.Hour - time.Second)
	if !k.isLive(access) {
		t.Error("dead a second too early")
	}
	k.host.SetError(errors.New("the host is down"))
	if _, err := k.server.VerifyAccessToken(t.Context(), access); err == nil || errors.Is(err, oauthserver.ErrInvalidToken) {
		t.Errorf("a fault of the host: %v", err)
	}
	k.host.SetError(nil)
	k.clock.Advance(time.Second)
	if k.isLive(access) {
		t.Error("live at the hour itself")
	}
}
