package oauthserver_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const deviceMembers = "device_code expires_in interval user_code verification_uri verification_uri_complete"

// DEV-01, DEV-02: a form or JSON, every way to authenticate, one response.
func TestDeviceAuthorize(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	code := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)
	for name, send := range map[string]func() apiResponse{
		"form, Basic": func() apiResponse { return k.post("/oauth/device/authorize", k.as(confidentialID)) },
		"form, body": func() apiResponse {
			return k.post("/oauth/device/authorize", nil, "client_id", confidentialID, "client_secret", apiSecret)
		},
		"form, public":        func() apiResponse { return k.post("/oauth/device/authorize", nil, "client_id", publicID) },
		"form, public, Basic": func() apiResponse { return k.post("/oauth/device/authorize", k.as(publicID)) },
		"JSON, Basic":         func() apiResponse { return k.postJSON("/oauth/device/authorize", `{}`, k.as(confidentialID)) },
		"JSON, body": func() apiResponse {
			return k.postJSON("/oauth/device/authorize", `{"client_id":"cli_confidential","client_secret":"`+apiSecret+`","scope":null,"other":1}`)
		},
		"TOK-06 a long resource": func() apiResponse {
			return k.post("/oauth/device/authorize", k.as(publicID), "resource", apiOrigin+"/"+strings.Repeat("x", 2000))
		},
		"JSON, public": func() apiResponse {
			return k.postJSON("/oauth/device/authorize", `{"client_id":"cli_public","scope":"invoices:read","resource":"https://api.example.com/x"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := send().ok(deviceMembers)
			user := got.text("user_code")
			if !code.MatchString(user) || !strings.HasPrefix(got.text("device_code"), "pk_dc_") {
				t.Errorf("codes %v", got.body)
			}
			if got.body["expires_in"] != 600.0 || got.body["interval"] != 5.0 || got.body["verification_uri"] != appOrigin+"/device" ||
				got.body["verification_uri_complete"] != appOrigin+"/device?user_code="+user {
				t.Errorf("answer %v", got.body)
			}
		})
	}
}

// DEV-03: each failure, and that it issues no code: nothing is written.
func TestDeviceAuthorizeRefuses(t *testing.T) {
	t.Parallel()
	const path = "/oauth/device/authorize"
	for name, test := range map[string]struct {
		send        func(k *apiHarness) apiResponse
		status      int
		code        string
		description string
	}{
		"unknown client":   {func(k *apiHarness) apiResponse { return k.post(path, nil, "client_id", "cli_nobody") }, 401, "invalid_client", "*"},
		"no client":        {func(k *apiHarness) apiResponse { return k.post(path, nil) }, 401, "invalid_client", "*"},
		"no secret":        {func(k *apiHarness) apiResponse { return k.post(path, nil, "client_id", confidentialID) }, 401, "invalid_client", "*"},
		"wrong secret":     {func(k *apiHarness) apiResponse { return k.post(path, withBasic(confidentialID, "x")) }, 401, "invalid_client", "*"},
		"secret of public": {func(k *apiHarness) apiResponse { return k.post(path, withBasic(publicID, "x")) }, 401, "invalid_client", "*"},
		"wrong in JSON": {func(k *apiHarness) apiResponse {
			return k.postJSON(path, `{"client_id":"cli_public","client_secret":"x"}`)
		}, 401, "invalid_client", "*"},
		"scope": {func(k *apiHarness) apiResponse {
			return k.post(path, k.as(publicID), "scope", "invoices:read payments:read")
		}, 400, "invalid_scope", "not registered by the app: payments:read"},
		"scope, malformed": {func(k *apiHarness) apiResponse { return k.post(path, k.as(publicID), "scope", "invoices:read\t") }, 400, "invalid_scope", "*"},
		"resource": {func(k *apiHarness) apiResponse {
			return k.post(path, k.as(publicID), "resource", "https://evil.example.com")
		}, 400, "invalid_target", "*"},
		"resource twice": {func(k *apiHarness) apiResponse {
			return k.post(path, k.as(publicID), "resource", apiOrigin, "resource", apiOrigin)
		}, 400, "invalid_target", "*"},
		"resource, JSON": {func(k *apiHarness) apiResponse {
			return k.postJSON(path, `{"resource":["https://api.example.com"]}`, k.as(publicID))
		}, 400, "invalid_target", "*"},
		"resource, number": {func(k *apiHarness) apiResponse { return k.postJSON(path, `{"resource":1}`, k.as(publicID)) }, 400, "invalid_target", "*"},
		"JSON, malformed":  {func(k *apiHarness) apiResponse { return k.postJSON(path, `{`) }, 400, "invalid_request", "*"},
		"JSON, twice": {func(k *apiHarness) apiResponse {
			return k.postJSON(path, `{"client_id":"cli_public","client_id":"cli_public"}`)
		}, 400, "invalid_request", "*"},
		"JSON, type":         {func(k *apiHarness) apiResponse { return k.postJSON(path, `{"client_id":1}`) }, 400, "invalid_request", "*"},
		"JSON, array":        {func(k *apiHarness) apiResponse { return k.postJSON(path, `[]`) }, 400, "invalid_request", "*"},
		"repeated parameter": {func(k *apiHarness) apiResponse { return k.post(path, k.as(publicID), "scope", "a", "scope", "a") }, 400, "invalid_request", "scope is given more than once"},
		"other content type": {func(k *apiHarness) apiResponse {
			return k.send("POST", path, "x", withHeader("Content-Type", "text/plain"))
		}, 400, "invalid_request", "*"},
		"too large": {func(k *apiHarness) apiResponse {
			return k.postJSON(path, `{"client_id":"`+strings.Repeat("x", 64<<10)+`"}`)
		}, 400, "invalid_request", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			k.Store.Tap.Reset()
			test.send(k).refused(test.status, test.code, test.description)
			if _, commits := k.Store.Tap.Counts(); commits != 0 {
				t.Errorf("a failure wrote something: %d commits", commits)
			}
		})
	}
	for _, status := range []partner.AppStatus{partner.AppSuspended, partner.AppDeactivated} {
		k := newAPIHarness(t)
		k.Must(k.OAuth.SetAppStatus(t.Context(), k.app(publicID).ID, status))
		k.post(path, k.as(publicID)).refused(http.StatusUnauthorized, "invalid_client", "*")
	}
}

// DEV-08, AZ-18: without scope all that the app registered; with it, that.
func TestDeviceScopes_AZ18(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	const all = "invoices:read customers:read"
	for scope, want := range map[string]string{
		"": all, "  ": all, "customers:read": "customers:read", "  customers:read   invoices:read ": "customers:read invoices:read",
	} {
		got := k.post("/oauth/device/authorize", k.as(publicID), "scope", scope).ok(deviceMembers)
		k.approveDevice(got.text("user_code"))
		if got := k.poll(publicID, got.text("device_code")).ok(tokenMembers); got.body["scope"] != want {
			t.Errorf("scope %q gives %v", scope, got.body["scope"])
		}
	}
}

// DEV-04: pending, too fast, and how the interval is measured: from the last poll
// that was not too fast.
func TestDevicePending(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	device, user := k.newDevice(publicID)
	for i, step := range []struct {
		wait time.Duration
		code string
	}{
		{0, "authorization_pending"}, // never slow_down on the first poll
		{0, "slow_down"},
		{4 * time.Second, "slow_down"},
		{999 * time.Millisecond, "slow_down"},
		{time.Millisecond, "authorization_pending"},
		{5*time.Second - time.Millisecond, "slow_down"},
		{time.Millisecond, "authorization_pending"},
	} {
		k.Clock.Advance(step.wait)
		got := k.poll(publicID, device)
		if got.text("error") != step.code {
			t.Errorf("step %d: %v, want %s", i, got.body, step.code)
		}
		got.refused(http.StatusBadRequest, step.code, "")
	}
	// slow_down only while pending: an approved code is collected at once.
	k.approveDevice(user)
	k.poll(publicID, device).ok(tokenMembers)
	// Single use.
	k.poll(publicID, device).dead("")
	k.Clock.Advance(time.Hour)
	k.poll(publicID, device).dead("")
}

// DEV-04: a denied code stays denied, even after its expiry.
func TestDeviceDenied(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	device, user := k.newDevice(confidentialID)
	found, err := k.Store.DeviceByUserCode(t.Context(), user)
	k.Must(err)
	denied, err := k.Store.DecideDevice(t.Context(), oauthstore.Decision{RequestID: found.ID, Now: k.Clock.Now(), IsDenied: true})
	if err != nil || denied.Outcome != oauthstore.ApprovalDone {
		t.Fatalf("deny: %q, %v", denied.Outcome, err)
	}
	for range 2 {
		k.poll(confidentialID, device).refused(http.StatusBadRequest, "access_denied", "")
	}
	k.Clock.Advance(time.Hour)
	k.poll(confidentialID, device).refused(http.StatusBadRequest, "access_denied", "")
}

// DEV-04: ten minutes, pending or approved; the moment itself is too late.
func TestDeviceExpires(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	pending, _ := k.newDevice(publicID)
	approved, user := k.newDevice(publicID)
	k.approveDevice(user)
	inTime, user := k.newDevice(publicID)
	k.approveDevice(user)
	k.Clock.Advance(600*time.Second - time.Second)
	k.poll(publicID, pending).refused(http.StatusBadRequest, "authorization_pending", "")
	k.poll(publicID, inTime).ok(tokenMembers)
	k.Clock.Advance(time.Second)
	k.poll(publicID, pending).refused(http.StatusBadRequest, "expired_token", "")
	k.poll(publicID, approved).refused(http.StatusBadRequest, "expired_token", "")
}

// DEV-04, TOK-07, INST-01, INST-03: what was approved and then cancelled.
func TestDeviceCancelled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(k *apiHarness) error{
		"uninstalled": func(k *apiHarness) error {
			return k.OAuth.Uninstall(k.Context(), k.app(publicID).ID, apiBusiness, apiUser)
		},
		"access revoked": func(k *apiHarness) error {
			return k.OAuth.RevokeAccess(k.Context(), k.app(publicID).ID, apiBusiness, apiUser)
		},
		"consent revoked": func(k *apiHarness) error {
			return k.OAuth.RevokeConsent(k.Context(), k.app(publicID).ID, apiBusiness, apiUser)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			device, user := k.newDevice(publicID)
			k.approveDevice(user)
			k.Must(end(k))
			k.poll(publicID, device).dead("")
			if name == "uninstalled" {
				k.Clock.Advance(time.Hour)
				k.poll(publicID, device).dead("")
			}
		})
	}
}

// DEV-04, TOK-08: unknown, another's and other kinds of codes.
func TestDeviceUnknown(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	device, user := k.newDevice(publicID)
	k.approveDevice(user)
	for _, code := range []string{device, user, "x", secret.New(secret.DeviceCode).Reveal(), k.code(confidentialID, "")} {
		k.poll(confidentialID, code).dead("")
	}
	k.poll(publicID, device).ok(tokenMembers)
}

// DEV-07: of N polls of an approved code one gets the tokens.
func TestDeviceRace(t *testing.T) {
	t.Parallel()
	k, crowd := newCrowd(t)
	device, user := k.newDevice(publicID)
	k.approveDevice(user)
	responses := make([]apiResponse, 8)
	crowd.expect(len(responses))
	testdb.Race(len(responses), func(i int) { responses[i] = k.poll(publicID, device) })
	won := 0
	for _, got := range responses {
		if got.Status == http.StatusOK {
			won++
			if !k.isLive(got.text("access_token")) {
				t.Error("the winner's token is not live")
			}
			continue
		}
		got.dead("")
	}
	if won != 1 {
		t.Errorf("%d polls got tokens", won)
	}
}

// TOK-04: an app that is suspended at any moment during its poll is rejected as a client,
// and the approval remains for its return.
func TestDeviceOfSuspendedApp(t *testing.T) {
	t.Parallel()
	late := &lateStore{}
	late.first.Store(true) // not yet
	k := newAPIHarness(t, func(cfg *oauthserver.Config) { late.Store, cfg.Store = cfg.Store, late })
	device, user := k.newDevice(publicID)
	k.approveDevice(user)
	late.first.Store(false)
	late.after = func() {
		k.Must(fixture.SetAppStatus(t.Context(), k.Store, k.app(publicID).ID, partner.AppSuspended))
	}
	k.poll(publicID, device).refused(http.StatusUnauthorized, "invalid_client", "*")
	k.Must(fixture.SetAppStatus(t.Context(), k.Store, k.app(publicID).ID, partner.AppActive))
	k.poll(publicID, device).ok(tokenMembers)

	device, user = k.newDevice(publicID)
	k.approveDevice(user)
	k.Clock.Advance(lifetimes.DeviceCode)
	late.first.Store(false)
	k.poll(publicID, device).refused(http.StatusUnauthorized, "invalid_client", "*")
}

// takenStore says once that the user code is in use.
type takenStore struct {
	oauthstore.Store
	left  int
	codes []string
}

func (s *takenStore) CreateDevice(ctx context.Context, d oauthstore.DeviceCode, digest storage.Digest) error {
	s.codes = append(s.codes, d.UserCode)
	if s.left > 0 {
		s.left--
		return oauthstore.ErrTaken
	}
	return s.Store.CreateDevice(ctx, d, digest)
}

// DEV-02: a user code that is in use does not cause an error: another one is chosen.
func TestDeviceUserCodeTaken(t *testing.T) {
	t.Parallel()
	var store *takenStore
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		store = &takenStore{Store: c.Store, left: 1}
		c.Store = store
	})
	got := k.post("/oauth/device/authorize", k.as(publicID)).ok(deviceMembers)
	if len(store.codes) != 2 || store.codes[0] == store.codes[1] || got.text("user_code") != store.codes[1] {
		t.Errorf("tried %v, answered %v", store.codes, got.body)
	}
	store.left = 1000
	k.post("/oauth/device/authorize", k.as(publicID)).refused(http.StatusInternalServerError, "server_error", "*")
}
