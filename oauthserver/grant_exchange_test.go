package oauthserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// apiSessions reads session tokens of the tests' own format: the app's
// client_id, an id, a user, a business and perhaps an installation, separated by
// slashes.
type apiSessions struct{}

func (apiSessions) VerifySessionToken(_ context.Context, app partner.App, token string, now time.Time) (oauthserver.SessionToken, error) {
	parts := strings.Split(token, "/")
	switch {
	case token == "fault":
		return oauthserver.SessionToken{}, fmt.Errorf("%w: keys are not available", oauthserver.ErrInternal)
	case len(parts) != 5 || parts[0] != app.ClientID:
		return oauthserver.SessionToken{}, errors.New("not good")
	}
	session := oauthserver.SessionToken{ID: parts[1], UserID: parts[2], BusinessID: parts[3], InstallationID: parts[4], ExpiresAt: now.Add(time.Minute)}
	if session.ID == "expired" {
		session.ExpiresAt = now
	}
	return session, nil
}

func sessionToken(jti string) string {
	return strings.Join([]string{confidentialID, jti, apiUser, apiBusiness, ""}, "/")
}

const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"

func (k *apiHarness) exchange(token string) apiResponse {
	k.Helper()
	return k.token(k.as(confidentialID), "grant_type", exchangeGrant, "subject_token", token,
		"subject_token_type", "urn:ietf:params:oauth:token-type:jwt")
}

// install connects the app without leaving a token behind.
func (k *apiHarness) install(clientID string) {
	k.Helper()
	k.code(clientID, apiChallenge)
}

// TX-06: what the response has, without and with the host's option.
func TestExchangeResponse(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.install(confidentialID)
	got := k.exchange(sessionToken("1")).ok("access_token expires_in issued_token_type scope token_type")
	if got.body["issued_token_type"] != "urn:ietf:params:oauth:token-type:access_token" || got.body["token_type"] != "Bearer" ||
		got.body["expires_in"] != 3600.0 || got.body["scope"] != "invoices:read customers:read" {
		t.Errorf("answer %v", got.body)
	}
	principal, err := k.OAuth.VerifyAccessToken(t.Context(), got.text("access_token"))
	if err != nil || principal.UserID != apiUser || principal.BusinessID != apiBusiness {
		t.Errorf("principal %+v, %v", principal, err)
	}

	k = newAPIHarness(t, func(c *oauthserver.Config) { c.ExchangeRefresh = true })
	k.install(confidentialID)
	got = k.exchange(sessionToken("1")).ok("access_token expires_in issued_token_type refresh_token scope token_type")
	k.refresh(confidentialID, got.text("refresh_token")).ok(tokenMembers)
	if k.isLive(got.text("access_token")) {
		t.Error("REF-01: the access token before the refresh is live")
	}
}

// TX-01, TX-03, TX-04 and TOK-03: refusals before the store is asked for
// anything.
func TestExchangeRefuses(t *testing.T) {
	t.Parallel()
	jwt := "urn:ietf:params:oauth:token-type:jwt"
	access := "urn:ietf:params:oauth:token-type:access_token"
	for name, test := range map[string]struct {
		parameters  []string
		code        string
		description string
	}{
		"no subject_token":           {[]string{"subject_token_type", jwt}, "invalid_request", "subject_token is missing"},
		"empty subject_token":        {[]string{"subject_token_type", jwt, "subject_token", ""}, "invalid_request", "subject_token is missing"},
		"long subject_token":         {[]string{"subject_token_type", jwt, "subject_token", strings.Repeat("x", 8<<10+1)}, "invalid_request", "subject_token is malformed"},
		"no subject_token_type":      {[]string{"subject_token", "x"}, "invalid_request", "subject_token_type is missing"},
		"other subject_token_type":   {[]string{"subject_token", "x", "subject_token_type", access}, "invalid_request", "subject_token_type is not supported"},
		"other requested_token_type": {[]string{"subject_token", "x", "subject_token_type", jwt, "requested_token_type", jwt}, "invalid_request", "requested_token_type is not supported"},
		"empty requested_token_type": {[]string{"subject_token", "x", "subject_token_type", jwt, "requested_token_type", ""}, "invalid_request", "requested_token_type is not supported"},
		"repeated subject_token":     {[]string{"subject_token", "x", "subject_token", "x", "subject_token_type", jwt}, "invalid_request", "subject_token is given more than once"},
		"malformed":                  {[]string{"subject_token", strings.Repeat("x", 8<<10), "subject_token_type", jwt, "requested_token_type", access}, "invalid_grant", ""},
		"of another app":             {[]string{"subject_token", "cli_public/1/usr_1/biz_1/", "subject_token_type", jwt}, "invalid_grant", ""},
		"expired":                    {[]string{"subject_token", sessionToken("expired"), "subject_token_type", jwt}, "invalid_grant", ""},
		"not installed":              {[]string{"subject_token", sessionToken("1"), "subject_token_type", jwt}, "invalid_grant", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			if name != "not installed" {
				k.install(confidentialID)
			}
			k.token(k.as(confidentialID), append(test.parameters, "grant_type", exchangeGrant)...).refused(http.StatusBadRequest, test.code, test.description)
		})
	}
	k := newAPIHarness(t)
	k.install(publicID)
	k.token(k.as(publicID), "grant_type", exchangeGrant, "subject_token", "cli_public/1/usr_1/biz_1/", "subject_token_type", jwt).
		refused(http.StatusUnauthorized, "invalid_client", "*")
	k.exchange("fault").refused(http.StatusInternalServerError, "server_error", "*")
	k.exchange(sessionToken("")).refused(http.StatusInternalServerError, "server_error", "*")
}

// TX-04, TX-05: the response is the same for every ended parent.
func TestExchangeDead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(k *apiHarness) error{
		"uninstalled": func(k *apiHarness) error {
			return k.OAuth.Uninstall(k.Context(), k.app(confidentialID).ID, apiBusiness, apiUser)
		},
		"access revoked": func(k *apiHarness) error {
			return k.OAuth.RevokeAccess(k.Context(), k.app(confidentialID).ID, apiBusiness, apiUser)
		},
		"user suspended": func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserSuspended)
		},
		"user restricted": func(k *apiHarness) error {
			return k.OAuth.SetUserStatus(k.Context(), apiUser, identity.UserRestricted)
		},
		"left": func(k *apiHarness) error { k.Host.RemoveBusiness(apiUser, apiBusiness); return nil },
		"no scope left": func(k *apiHarness) error {
			return k.OAuth.SetInstallationScopes(k.Context(), k.app(confidentialID).ID, apiBusiness, identity.Scopes{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			k.install(confidentialID)
			before := k.exchange(sessionToken("before")).text("access_token")
			k.Must(end(k))
			k.exchange(sessionToken("after")).dead("")
			if k.isLive(before) && name != "no scope left" {
				t.Error("what was exchanged before is live")
			}
		})
	}
	// Consent is not asked for.
	k := newAPIHarness(t)
	k.install(confidentialID)
	k.Must(k.OAuth.RevokeConsent(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
	k.exchange(sessionToken("1")).ok("access_token expires_in issued_token_type scope token_type")
}

// TX-04: issued under an installation that ended, though there is a new one.
func TestExchangeOldInstallation(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.install(confidentialID)
	app := k.app(confidentialID)
	old, err := k.Store.ActiveInstallation(t.Context(), app.ID, apiBusiness)
	k.Must(err)
	k.Must(k.OAuth.Uninstall(t.Context(), app.ID, apiBusiness, apiUser))
	k.install(confidentialID)
	k.exchange(sessionToken("1") + old.ID).dead("")
	fresh, err := k.Store.ActiveInstallation(t.Context(), app.ID, apiBusiness)
	k.Must(err)
	k.exchange(sessionToken("2") + fresh.ID).ok("access_token expires_in issued_token_type scope token_type")
}

// TX-04: single use, also of many at once.
func TestExchangeOnce(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.install(confidentialID)
	responses := make([]apiResponse, 8)
	testdb.Race(len(responses), func(i int) { responses[i] = k.exchange(sessionToken("one")) })
	won := 0
	for _, got := range responses {
		if got.Status == http.StatusOK {
			won++
			continue
		}
		got.dead("")
	}
	if won != 1 {
		t.Errorf("%d exchanges of one token succeeded", won)
	}
	k.exchange(sessionToken("one")).dead("")
}

// TX-02, TX-07: the session tokens that the library issues are what it exchanges,
// once and for 60 seconds.
func TestExchangeIssued(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.SessionTokens = nil })
	k.install(confidentialID)
	issue := func() string {
		token, err := k.OAuth.IssueSessionToken(t.Context(), oauthserver.NewSessionToken{ClientID: confidentialID, BusinessID: apiBusiness, UserID: apiUser})
		k.Must(err)
		return token
	}
	token, late := issue(), issue()
	k.Clock.Advance(59 * time.Second)
	got := k.exchange(token).ok("access_token expires_in issued_token_type scope token_type")
	if !k.isLive(got.text("access_token")) {
		t.Error("the access token is not live")
	}
	k.exchange(token).dead("")
	k.Clock.Advance(time.Second)
	k.exchange(late).dead("")
	k.exchange("x.y.z").dead("")
	// Of an installation that ended, though the app is back.
	token = issue()
	k.Must(k.OAuth.Uninstall(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
	k.install(confidentialID)
	k.exchange(token).dead("")
}
