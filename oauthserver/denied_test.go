package oauthserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
)

const (
	deniedUser   = "the person who connected this app may not use it now"
	deniedScopes = "none of the granted scopes is allowed now"
)

// passing are the causes of a refusal that may pass.
var passing = map[string]struct {
	begin, end  func(k *apiHarness) error
	description string
}{
	"suspended": {
		func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserSuspended)
		},
		func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserActive)
		}, deniedUser,
	},
	"restricted": {
		func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserRestricted)
		},
		func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserActive)
		}, deniedUser,
	},
	"no member": {
		func(k *apiHarness) error { k.Host.RemoveBusiness(apiUser, apiBusiness); return nil },
		func(k *apiHarness) error {
			k.Host.AddBusiness(apiUser, oauthserver.Business{ID: apiBusiness})
			return nil
		}, deniedUser,
	},
	"installation without the scopes": {
		func(k *apiHarness) error { return k.setScopes(k.app(confidentialID).ID, "profile:read") },
		func(k *apiHarness) error { return k.setScopes(k.app(confidentialID).ID, "customers:read") }, deniedScopes,
	},
	"app without the scopes": {
		func(k *apiHarness) error { return k.setAppScopes(k.app(confidentialID).ID, "profile:read") },
		func(k *apiHarness) error { return k.setAppScopes(k.app(confidentialID).ID, "customers:read") }, deniedScopes,
	},
}

// TOK-12, TOK-10: a cause that may pass leaves a refresh token as it was, and uses up a code
// and a device code. invalid_grant means that the grant is dead.
func TestPassingCauses(t *testing.T) {
	t.Parallel()
	each := func(t *testing.T, test func(t *testing.T, k *apiHarness, begin, end func(), description string)) {
		for name, cause := range passing {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				k := newAPIHarness(t)
				test(t, k, func() { k.Must(cause.begin(k)) }, func() { k.Must(cause.end(k)) }, cause.description)
			})
		}
	}
	t.Run("TOK-12_refresh", func(t *testing.T) {
		t.Parallel()
		each(t, func(t *testing.T, k *apiHarness, begin, end func(), description string) {
			access, refresh := k.tokens(confidentialID)
			begin()
			for range 2 {
				k.refresh(confidentialID, refresh).refused(http.StatusBadRequest, "access_denied", description)
			}
			end()
			if !k.isLive(access) {
				t.Error("the access token ended")
			}
			next := k.refresh(confidentialID, refresh).ok(tokenMembers)
			begin()
			// A replay is one all the same.
			k.refresh(confidentialID, refresh).dead("refresh token reuse detected")
			k.refresh(confidentialID, next.text("refresh_token")).dead("revoked")
		})
	})
	t.Run("TOK-12_a_dead_grant_stays_dead", func(t *testing.T) {
		t.Parallel()
		each(t, func(t *testing.T, k *apiHarness, begin, _ func(), _ string) {
			_, refresh := k.tokens(confidentialID)
			_, late := k.tokens(confidentialID)
			begin()
			k.Must(k.OAuth.RevokeConsent(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
			k.refresh(confidentialID, refresh).dead("")
			k.Must(k.OAuth.RevokeAccess(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
			k.refresh(confidentialID, refresh).dead("revoked")
			k.Clock.Advance(31 * 24 * time.Hour)
			k.refresh(confidentialID, late).dead("revoked")
		})
	})
	t.Run("TOK-12_code", func(t *testing.T) {
		t.Parallel()
		each(t, func(t *testing.T, k *apiHarness, begin, end func(), _ string) {
			code := k.code(confidentialID, apiChallenge)
			begin()
			k.redeem(confidentialID, code).dead("")
			end()
			k.redeem(confidentialID, code).dead("code already used")
		})
	})
	t.Run("TOK-12_device_code", func(t *testing.T) {
		t.Parallel()
		each(t, func(t *testing.T, k *apiHarness, begin, end func(), description string) {
			device, user := k.newDevice(confidentialID)
			k.approveDevice(user)
			begin()
			k.poll(confidentialID, device).refused(http.StatusBadRequest, "access_denied", description)
			end()
			k.poll(confidentialID, device).refused(http.StatusBadRequest, "access_denied", "")
			k.Clock.Advance(time.Hour) // DEV-04: as a code that the person denied
			k.poll(confidentialID, device).refused(http.StatusBadRequest, "access_denied", "")
		})
	})
	t.Run("TX-04_exchange", func(t *testing.T) {
		t.Parallel()
		each(t, func(t *testing.T, k *apiHarness, begin, end func(), _ string) {
			k.install(confidentialID)
			begin()
			k.exchange(sessionToken("1")).dead("")
			end()
			k.exchange(sessionToken("2")).ok("access_token expires_in issued_token_type scope token_type")
		})
	})
}

// TOK-12, DEV-07: of many polls at once that meet a cause that may pass, all are denied.
func TestDeviceDeniedRace(t *testing.T) {
	t.Parallel()
	k, crowd := newCrowd(t)
	device, user := k.newDevice(confidentialID)
	k.approveDevice(user)
	k.Must(k.OAuth.SetUserStatus(t.Context(), apiUser, identity.UserSuspended))
	responses := make([]apiResponse, 8)
	crowd.expect(len(responses))
	testdb.Race(len(responses), func(i int) { responses[i] = k.poll(confidentialID, device) })
	for _, got := range responses {
		got.refused(http.StatusBadRequest, "access_denied", got.text("error_description"))
	}
}

// TOK-02: what a repeated response has left is never 0, which clients take for a token that
// does not expire.
func TestRefreshRetryOfAnExpiredToken(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		c.RefreshRetry, c.Lifetimes.AccessToken = 30*time.Second, 10*time.Second
	})
	_, refresh := k.tokens(confidentialID)
	k.refresh(confidentialID, refresh).ok(tokenMembers)
	for _, want := range []float64{6, 2, 1, 1} {
		k.Clock.Advance(4 * time.Second)
		if got := k.refresh(confidentialID, refresh).ok(tokenMembers); got.body["expires_in"] != want {
			t.Errorf("expires_in %v, want %v", got.body["expires_in"], want)
		}
	}
}
