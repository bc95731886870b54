package oauthserver_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// INST-01, INST-03, INST-04, APP-01, TOK-07, TOK-12: the end of a connection takes effect on
// the next request, in every grant and for every token; so does a cause that may pass.
func TestWhatEndsAConnection(t *testing.T) {
	t.Parallel()
	const none, client, denied = "", "invalid_client", "access_denied"
	tests := map[string]struct {
		end     func(k *apiHarness, app partner.App) error
		refresh string // the description of a refresh's invalid_grant, invalid_client or access_denied
		other   string // of the other grants'; of a code's never access_denied
	}{
		"uninstall": {func(k *apiHarness, a partner.App) error {
			return k.OAuth.Uninstall(k.Context(), a.ID, apiBusiness, apiUser)
		}, none, none},
		"revoke access": {func(k *apiHarness, a partner.App) error {
			return k.OAuth.RevokeAccess(k.Context(), a.ID, apiBusiness, apiUser)
		}, "revoked", none},
		"revoke consent": {func(k *apiHarness, a partner.App) error {
			return k.OAuth.RevokeConsent(k.Context(), a.ID, apiBusiness, apiUser)
		}, none, none},
		"suspend": {func(k *apiHarness, a partner.App) error {
			return k.OAuth.SetAppStatus(k.Context(), a.ID, partner.AppSuspended)
		}, client, client},
		"deactivate": {func(k *apiHarness, a partner.App) error {
			return k.OAuth.SetAppStatus(k.Context(), a.ID, partner.AppDeactivated)
		}, client, client},
		"suspend the user": {func(k *apiHarness, _ partner.App) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserSuspended)
		}, denied, denied},
		"restrict the user": {func(k *apiHarness, _ partner.App) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserRestricted)
		}, denied, denied},
		"leave the business": {func(k *apiHarness, _ partner.App) error { k.Host.RemoveBusiness(apiUser, apiBusiness); return nil }, denied, denied},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			access, refresh := k.tokens(confidentialID)
			code := k.code(confidentialID, apiChallenge)
			device, userCode := k.newDevice(confidentialID)
			k.approveDevice(userCode)
			k.Must(test.end(k, k.app(confidentialID)))

			refused := func(got apiResponse, with string) {
				t.Helper()
				switch with {
				case client:
					got.refused(http.StatusUnauthorized, client, "*")
				case denied:
					got.refused(http.StatusBadRequest, denied, deniedUser)
				default:
					got.dead(with)
				}
			}
			if k.isLive(access) {
				t.Error("a call with the access token succeeds")
			}
			k.introspect(access).inactive()
			k.introspect(refresh).inactive()
			refused(k.refresh(confidentialID, refresh), test.refresh)
			if test.other == denied {
				refused(k.redeem(confidentialID, code), none)
			} else {
				refused(k.redeem(confidentialID, code), test.other)
			}
			refused(k.poll(confidentialID, device), test.other)
		})
	}
}

// INST-02: connecting again wakes nothing up; INST-04: nor does consenting again.
func TestTheDeadStayDead(t *testing.T) {
	t.Parallel()
	ends := map[string]func(k *apiHarness, app partner.App) error{
		"uninstall": func(k *apiHarness, a partner.App) error {
			return k.OAuth.Uninstall(k.Context(), a.ID, apiBusiness, apiUser)
		},
		"revoke consent": func(k *apiHarness, a partner.App) error {
			return k.OAuth.RevokeConsent(k.Context(), a.ID, apiBusiness, apiUser)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			old, oldRefresh := k.tokens(confidentialID)
			k.Must(end(k, k.app(confidentialID)))
			fresh, _ := k.tokens(confidentialID)
			if k.isLive(old) || !k.isLive(fresh) {
				t.Errorf("old live: %v, new live: %v", k.isLive(old), k.isLive(fresh))
			}
			k.refresh(confidentialID, oldRefresh).dead("")
		})
	}
}

// API-03: a live token never gains a scope, even if its parents gain one, and loses scopes
// that are removed.
func TestScopesOfALiveToken(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	access, _ := k.tokens(confidentialID)
	k.Must(k.setAppScopes(k.app(confidentialID).ID, "invoices:read", "customers:read", "payments:read")) // so that only the token is in the way
	scopes := func() string {
		p, err := k.OAuth.VerifyAccessToken(t.Context(), access)
		k.Must(err)
		return p.Scopes.String()
	}
	set := func(names ...string) {
		k.Must(k.OAuth.SetInstallationScopes(t.Context(), k.app(confidentialID).ID, apiBusiness, identity.MustScopes(names...)))
	}
	for _, step := range []struct{ granted, want string }{
		{"invoices:read", "invoices:read"},
		{"invoices:read customers:read payments:read", "invoices:read customers:read"},
	} {
		set(strings.Fields(step.granted)...)
		if got := scopes(); got != step.want {
			t.Errorf("with %q granted the token has %q, want %q", step.granted, got, step.want)
		}
	}
}

// CODE-06, REF-05, DEV-07 over HTTP: one response of 200, none of 5xx.
func TestOneWinnerOverHTTP(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	device, userCode := k.newDevice(confidentialID)
	k.approveDevice(userCode)
	_, refresh := k.tokens(confidentialID)
	code := k.code(confidentialID, apiChallenge)
	for name, try := range map[string]func() apiResponse{
		"code":    func() apiResponse { return k.redeem(confidentialID, code) },
		"refresh": func() apiResponse { return k.refresh(confidentialID, refresh) },
		"device":  func() apiResponse { return k.poll(confidentialID, device) },
	} {
		var mu sync.Mutex
		statuses := map[int]int{}
		testdb.Race(32, func(int) {
			got := try()
			mu.Lock()
			defer mu.Unlock()
			statuses[got.Status]++
		})
		if statuses[http.StatusOK] != 1 || statuses[http.StatusBadRequest] != 31 {
			t.Errorf("%s: statuses %v", name, statuses)
		}
	}
}

// issued finds what must never be in a log: everything that we make with a
// prefix of its kind, and session tokens.
var issued = regexp.MustCompile(`(pk_[a-z]+_|whsec_)[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)

// TOK-09: no secret, code or token is in a line of the log at its most talkative,
// whether requests succeed, are rejected or end with an internal error.
func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()
	var log logtest.Buffer
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		c.SessionTokens = nil
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	app := k.app(confidentialID)
	story := func() {
		code := k.code(confidentialID, apiChallenge)
		got := k.redeem(confidentialID, code)
		k.redeem(confidentialID, code)
		next := k.refresh(confidentialID, got.text("refresh_token"))
		k.refresh(confidentialID, got.text("refresh_token"))
		k.introspect(next.text("access_token"))
		_, _ = k.OAuth.VerifyAccessToken(t.Context(), next.text("access_token"))
		k.post("/oauth/revoke", k.as(confidentialID), "token", next.text("refresh_token"))
		device, userCode := k.newDevice(confidentialID)
		k.poll(confidentialID, device)
		k.approveDevice(userCode)
		k.poll(confidentialID, device)
		k.token(withBasic(confidentialID, secret.New(secret.ClientSecret).Reveal()), "grant_type", "refresh_token", "refresh_token", got.text("refresh_token"))
		session, err := k.OAuth.IssueSessionToken(t.Context(), oauthserver.NewSessionToken{ClientID: confidentialID, BusinessID: apiBusiness, UserID: apiUser, SessionID: "ses_1"})
		k.Must(err)
		k.exchange(session)
		k.exchange(session)
	}
	story()
	added, _, err := k.OAuth.AddClientSecret(t.Context(), app.ID)
	k.Must(err)
	for n := 1; n <= 12; n++ { // the same under faults
		code, _ := k.code(confidentialID, apiChallenge), added
		_, refresh := k.tokens(confidentialID)
		k.Store.Tap.Arm(testdb.FaultError, n)
		k.redeem(confidentialID, code)
		k.refresh(confidentialID, refresh)
		k.introspect(refresh)
		k.Store.Tap.Reset()
	}
	if found := issued.FindString(log.String()); found != "" || strings.Contains(log.String(), apiSecret) {
		t.Errorf("the log has %q", found)
	}
	if !strings.Contains(log.String(), testdb.ErrInjected.Error()) {
		t.Error("no fault was logged: the test looked at nothing")
	}
	if sample := fmt.Sprint(added); !issued.MatchString(sample) {
		t.Errorf("the pattern does not find a client secret")
	}
}
