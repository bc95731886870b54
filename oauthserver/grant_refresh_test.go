package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// REF-01: new tokens, and the access token before is dead at once.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for _, clientID := range []string{confidentialID, publicID} {
		k := newAPIHarness(t)
		access, refresh := k.tokens(clientID)
		got := k.refresh(clientID, refresh).ok(tokenMembers)
		if got.body["token_type"] != "Bearer" || got.body["expires_in"] != 3600.0 || got.body["scope"] != "invoices:read customers:read" {
			t.Errorf("answer %v", got.body)
		}
		if k.isLive(access) || !k.isLive(got.text("access_token")) {
			t.Error("REF-01: the old access token is live, or the new one is not")
		}
		if got.text("refresh_token") == refresh || got.text("access_token") == access {
			t.Error("a token came back")
		}
	}
}

// REF-02: a replay ends every token of the family, and says so once; after that
// the family is revoked (REF-03).
func TestRefreshReuse(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, first := k.tokens(confidentialID)
	second := k.refresh(confidentialID, first).ok(tokenMembers)
	third := k.refresh(confidentialID, second.text("refresh_token")).ok(tokenMembers)

	// Another client's replay is not even a replay.
	k.refresh(publicID, first).dead("")
	if !k.isLive(third.text("access_token")) {
		t.Fatal("another client burnt the family")
	}
	k.refresh(confidentialID, first).dead("refresh token reuse detected")
	if k.isLive(third.text("access_token")) {
		t.Error("REF-02: the access token of a burnt family is live")
	}
	k.refresh(confidentialID, third.text("refresh_token")).dead("revoked")
	k.refresh(confidentialID, first).dead("revoked")
}

// REF-02, TOK-11: a used token is recognized for as long as its family lives, however long
// ago it was used.
func TestRefreshReuseLate(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		replay func(k *apiHarness, token string)
		after  string // of the family's newest token
	}{
		"REF-02 reuse revokes the family": {func(k *apiHarness, token string) {
			k.refresh(publicID, token).dead("")
			k.refresh(confidentialID, token).dead("refresh token reuse detected")
			k.refresh(confidentialID, token).dead("revoked")
		}, "revoked"},
		"INT-03 it is inactive": {func(k *apiHarness, token string) {
			k.post("/oauth/introspect", k.as(confidentialID), "token", token).ok("active")
		}, ""},
		"REV-06 it can be revoked": {func(k *apiHarness, token string) {
			k.post("/oauth/revoke", k.as(confidentialID), "token", token).ok("")
		}, "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			_, first := k.tokens(confidentialID)
			newest := first
			for range 20 {
				k.Clock.Advance(20 * day)
				newest = k.refresh(confidentialID, newest).ok(tokenMembers).text("refresh_token")
				k.OAuth.Tidy(t.Context())
			}
			test.replay(k, first)
			if got := k.refresh(confidentialID, newest); test.after == "" {
				got.ok(tokenMembers)
			} else {
				got.dead(test.after)
			}
		})
	}
}

// REF-03, REF-04: thirty days from each token's own issue; the moment itself is
// too late.
func TestRefreshExpires(t *testing.T) {
	t.Parallel()
	const thirtyDays = 30 * 24 * time.Hour
	k := newAPIHarness(t)
	_, first := k.tokens(confidentialID)
	k.Clock.Advance(thirtyDays - time.Second)
	second := k.refresh(confidentialID, first).ok(tokenMembers).text("refresh_token")
	k.Clock.Advance(thirtyDays - time.Second)
	third := k.refresh(confidentialID, second).ok(tokenMembers).text("refresh_token")
	k.Clock.Advance(thirtyDays)
	k.refresh(confidentialID, third).dead("expired")
	// REF-03: used takes precedence over expired.
	k.refresh(confidentialID, second).dead("refresh token reuse detected")
	// REF-03: revoked takes precedence over used and expired.
	k.refresh(confidentialID, second).dead("revoked")
	k.refresh(confidentialID, third).dead("revoked")
}

// REF-03, TOK-07: what each end above the token responses. None of them
// leaves a token behind.
func TestRefreshDead(t *testing.T) {
	t.Parallel()
	type harness = apiHarness
	for name, test := range map[string]struct {
		end         func(k *harness, appID, refresh string) error
		description string
	}{
		"access revoked": {func(k *harness, appID, _ string) error {
			return k.OAuth.RevokeAccess(k.Context(), appID, apiBusiness, apiUser)
		}, "revoked"},
		"uninstalled": {func(k *harness, appID, _ string) error {
			return k.OAuth.Uninstall(k.Context(), appID, apiBusiness, apiUser)
		}, ""},
		"consent revoked": {func(k *harness, appID, _ string) error {
			return k.OAuth.RevokeConsent(k.Context(), appID, apiBusiness, apiUser)
		}, ""},
		"revoked by app": {func(k *harness, _, refresh string) error { k.post("/oauth/revoke", nil, "token", refresh); return nil }, "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			access, refresh := k.tokens(confidentialID)
			k.Must(test.end(k, k.app(confidentialID).ID, refresh))
			k.Store.Tap.Reset()
			k.refresh(confidentialID, refresh).dead(test.description)
			if k.isLive(access) {
				t.Error("the access token is live")
			}
		})
	}
}

// REF-03: a token that is both revoked and used counts as revoked, even if the business
// revoked it. An uninstall does not hide that a token was used.
func TestRefreshUsedAndEnded(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	app := k.app(confidentialID)
	_, used := k.tokens(confidentialID)
	k.refresh(confidentialID, used).ok(tokenMembers)
	k.Must(k.OAuth.RevokeAccess(t.Context(), app.ID, apiBusiness, apiUser))
	k.refresh(confidentialID, used).dead("revoked")

	_, used = k.tokens(confidentialID)
	k.refresh(confidentialID, used).ok(tokenMembers)
	k.Must(k.OAuth.Uninstall(t.Context(), app.ID, apiBusiness, apiUser))
	k.refresh(confidentialID, used).dead("refresh token reuse detected")
	k.refresh(confidentialID, used).dead("revoked")
}

func (k *apiHarness) setScopes(appID string, names ...string) error {
	return k.OAuth.SetInstallationScopes(k.Context(), appID, apiBusiness, identity.MustScopes(names...))
}

func (k *apiHarness) setAppScopes(appID string, names ...string) error {
	_, err := k.Store.UpdateApp(k.Context(), appID, func(a partner.App) (partner.App, error) {
		a.Scopes = identity.MustScopes(names...)
		return a, nil
	})
	return err
}

// TOK-10: scopes that the app or the installation has lost are not granted again,
// while the family keeps them.
func TestRefreshNarrowedFromAbove(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, refresh := k.tokens(confidentialID)
	app := k.app(confidentialID)
	k.Must(k.setScopes(app.ID, "customers:read"))
	got := k.refresh(confidentialID, refresh).ok(tokenMembers)
	if got.body["scope"] != "customers:read" {
		t.Errorf("scope %v", got.body["scope"])
	}
	k.Must(k.setScopes(app.ID, "customers:read", "invoices:read"))
	got = k.refresh(confidentialID, got.text("refresh_token")).ok(tokenMembers)
	if got.body["scope"] != "invoices:read customers:read" {
		t.Errorf("scope %v", got.body["scope"])
	}
}

// REF-06: a request for scopes that the grant has lost is refused as too wide, not as a dead
// grant: the others are still granted.
func TestRefreshScopeLost(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, refresh := k.tokens(confidentialID)
	k.Must(k.setScopes(k.app(confidentialID).ID, "customers:read"))
	k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", refresh, "scope", "invoices:read").
		refused(http.StatusBadRequest, "invalid_scope", "no longer granted: invoices:read")
	got := k.refresh(confidentialID, refresh).ok(tokenMembers)
	if got.body["scope"] != "customers:read" {
		t.Errorf("scope %v", got.body["scope"])
	}
}

// REF-06, AZ-18: scope narrows the access token; the refresh token keeps what it had;
// anything wider is refused and nothing is used up.
func TestRefreshScope_AZ18(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, refresh := k.tokens(confidentialID)
	ask := func(token, scope string) apiResponse {
		return k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", token, "scope", scope)
	}
	ask(refresh, "invoices:read payments:read").refused(http.StatusBadRequest, "invalid_scope", "not granted: payments:read")
	ask(refresh, "\"").refused(http.StatusBadRequest, "invalid_scope", "*")
	got := ask(refresh, "customers:read").ok(tokenMembers)
	if got.body["scope"] != "customers:read" {
		t.Errorf("narrowed to %v", got.body["scope"])
	}
	principal, err := k.OAuth.VerifyAccessToken(t.Context(), got.text("access_token"))
	if err != nil || principal.Scopes.String() != "customers:read" {
		t.Errorf("principal %+v, %v", principal, err)
	}
	for _, test := range []struct{ scope, want string }{
		{"", "invoices:read customers:read"}, {"  customers:read ", "customers:read"}, {"  ", "invoices:read customers:read"},
		{"customers:read   invoices:read", "invoices:read customers:read"},
	} {
		if got = ask(got.text("refresh_token"), test.scope).ok(tokenMembers); got.body["scope"] != test.want {
			t.Errorf("%q gives %v, want %s", test.scope, got.body["scope"], test.want)
		}
	}
}

// REF-05: of N refreshes at once one succeeds, and the first of the others burns
// what it got.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	k, crowd := newCrowd(t)
	_, refresh := k.tokens(confidentialID)
	responses := make([]apiResponse, 8)
	crowd.expect(len(responses))
	testdb.Race(len(responses), func(i int) { responses[i] = k.refresh(confidentialID, refresh) })
	var winners []apiResponse
	for _, got := range responses {
		switch {
		case got.Status == http.StatusOK:
			winners = append(winners, got)
		case got.text("error_description") == "revoked": // it came after the burn
			got.dead("revoked")
		default:
			got.dead("refresh token reuse detected")
		}
	}
	if len(winners) != 1 || k.isLive(winners[0].text("access_token")) {
		t.Fatalf("%d winners, want one, whose token has ended", len(winners))
	}
	k.refresh(confidentialID, winners[0].text("refresh_token")).dead("revoked")
}

// TOK-08: nothing is said about what is unknown, another's or of another kind.
func TestRefreshUnknown(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, refresh := k.tokens(publicID)
	for _, token := range []string{secret.New(secret.RefreshToken).Reveal(), access, refresh, "x", k.code(confidentialID, "")} {
		k.refresh(confidentialID, token).dead("")
	}
	k.refresh(publicID, secret.NewToken(secret.RefreshToken, secret.Wrap(refresh).TokenID()).Reveal()).dead("")
	k.refresh(publicID, refresh).ok(tokenMembers)
}

// REF-08: within the window a retry gets the identical response, as long as the token
// family has not changed. After the window, and for other clients, the strict rule applies.
func TestRefreshRetry(t *testing.T) {
	t.Parallel()
	retry := func(c *oauthserver.Config) { c.RefreshRetry = 30 * time.Second }
	t.Run("the same answer", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		first := k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", refresh, "scope", "customers:read").ok(tokenMembers)
		// A change between the two requests does not change the response.
		k.Must(k.setScopes(k.app(confidentialID).ID, "invoices:read", "customers:read", "payments:read"))
		k.Clock.Advance(30*time.Second - time.Millisecond)
		again := k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", refresh, "scope", "customers:read").ok(tokenMembers)
		if again.body["expires_in"] != 3570.0 {
			t.Errorf("TOK-02: expires_in %v, want what is left", again.body["expires_in"])
		}
		again.body["expires_in"] = first.body["expires_in"]
		if diff := cmp.Diff(first.body, again.body); diff != "" {
			t.Errorf("the second answer differs (-first +second):\n%s", diff)
		}
		if !k.isLive(first.text("access_token")) {
			t.Error("the token is not live")
		}
		k.refresh(publicID, refresh).dead("")
		k.Clock.Advance(time.Millisecond)
		k.refresh(confidentialID, refresh).dead("refresh token reuse detected")
	})
	t.Run("other parameters", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		again := func(scope string) apiResponse {
			return k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", refresh, "scope", scope)
		}
		first := again("customers:read invoices:read").ok(tokenMembers)
		for _, scope := range []string{"", "customers:read", "customers:read invoices:read payments:read", "unknown"} {
			again(scope).refused(http.StatusBadRequest, "invalid_request", "scope is not that of the refresh that is repeated")
		}
		if got := again("invoices:read customers:read").ok(tokenMembers); got.text("access_token") != first.text("access_token") {
			t.Error("the order of the scopes makes a difference")
		}
		k.token(k.as(confidentialID), "grant_type", "refresh_token", "refresh_token", refresh, "scope", "customers:read invoices:read", "resource", apiOrigin).
			refused(http.StatusBadRequest, "invalid_request", "resource is not that of the refresh that is repeated")
		k.Clock.Advance(30 * time.Second)
		again("unknown").dead("refresh token reuse detected")
	})
	t.Run("the same resource", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		to := func(more ...string) apiResponse {
			return k.token(k.as(confidentialID), append([]string{"grant_type", "refresh_token", "refresh_token", refresh}, more...)...)
		}
		first := to("resource", apiOrigin+"/invoices").ok(tokenMembers)
		for _, other := range [][]string{nil, {"resource", apiOrigin}} {
			to(other...).refused(http.StatusBadRequest, "invalid_request", "resource is not that of the refresh that is repeated")
		}
		if again := to("resource", apiOrigin+"/invoices").ok(tokenMembers); again.text("access_token") != first.text("access_token") {
			t.Error("a second branch")
		}
	})
	t.Run("expired meanwhile", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		k.Clock.Advance(30*24*time.Hour - time.Second)
		next := k.refresh(confidentialID, refresh).ok(tokenMembers)
		k.Clock.Advance(time.Second)
		k.refresh(confidentialID, refresh).dead("expired")
		k.refresh(confidentialID, next.text("refresh_token")).ok(tokenMembers)
	})
	t.Run("as long as the client may", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, func(c *oauthserver.Config) { c.RefreshRetry = 24 * time.Hour })
		for client, window := range map[string]time.Duration{confidentialID: 24 * time.Hour, publicID: time.Minute} {
			_, refresh := k.tokens(client)
			first := k.refresh(client, refresh).ok(tokenMembers)
			k.Clock.Advance(window - time.Second)
			if again := k.refresh(client, refresh).ok(tokenMembers); again.text("refresh_token") != first.text("refresh_token") {
				t.Errorf("%s: a second branch", client)
			}
			k.Clock.Advance(time.Second)
			k.refresh(client, refresh).dead("refresh token reuse detected")
		}
		cfg := oauthserver.Config{Store: k.Store, Host: k.Host, Keyring: fixture.Keyring(1), Pages: harness.NoPages{}, APIURL: apiOrigin, AppURL: apiOrigin}
		cfg.RefreshRetry = 24*time.Hour + 1
		if _, err := oauthserver.New(cfg); err == nil || !strings.Contains(err.Error(), "RefreshRetry") {
			t.Errorf("more than a day: %v", err)
		}
	})
	t.Run("successor used", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		next := k.refresh(confidentialID, refresh).ok(tokenMembers)
		k.refresh(confidentialID, next.text("refresh_token")).ok(tokenMembers)
		k.refresh(confidentialID, refresh).dead("refresh token reuse detected")
	})
	t.Run("dead meanwhile", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		k.refresh(confidentialID, refresh).ok(tokenMembers)
		k.Host.RemoveBusiness(apiUser, apiBusiness)
		k.refresh(confidentialID, refresh).refused(http.StatusBadRequest, "access_denied", deniedUser)
		k.Host.AddBusiness(apiUser, oauthserver.Business{ID: apiBusiness})
		k.Must(k.OAuth.SetUserStatus(t.Context(), apiUser, identity.UserSuspended))
		k.refresh(confidentialID, refresh).refused(http.StatusBadRequest, "access_denied", deniedUser)
		k.Must(k.OAuth.SetUserStatus(t.Context(), apiUser, identity.UserActive))
		k.Must(k.setScopes(k.app(confidentialID).ID, "profile:read"))
		k.refresh(confidentialID, refresh).refused(http.StatusBadRequest, "access_denied", deniedScopes)
		k.Must(k.setScopes(k.app(confidentialID).ID, "customers:read"))
		if again := k.refresh(confidentialID, refresh).ok(tokenMembers); !k.isLive(again.text("access_token")) {
			t.Error("TOK-12: the repeated token is not live")
		}
		k.Must(k.OAuth.Uninstall(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
		k.refresh(confidentialID, refresh).dead("")
	})
	t.Run("lost answer", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(publicID)
		k.Store.Tap.Arm(testdb.FaultLostCommit, 1)
		k.refresh(publicID, refresh).refused(http.StatusInternalServerError, "server_error", "*")
		k.Store.Tap.Reset()
		got := k.refresh(publicID, refresh).ok(tokenMembers)
		if !k.isLive(got.text("access_token")) {
			t.Error("the repeated token is not live")
		}
		k.refresh(publicID, got.text("refresh_token")).ok(tokenMembers)
	})
	t.Run("race", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, retry)
		_, refresh := k.tokens(confidentialID)
		responses := make([]apiResponse, 6)
		testdb.Race(len(responses), func(i int) { responses[i] = k.refresh(confidentialID, refresh) })
		for _, got := range responses[1:] {
			if diff := cmp.Diff(responses[0].body, got.body); diff != "" || got.Status != http.StatusOK {
				t.Errorf("answers differ, a second branch:\n%s", diff)
			}
		}
	})
}
