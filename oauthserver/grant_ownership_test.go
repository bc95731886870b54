package oauthserver_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// grants is one request of each grant type that its client could make once, with all
// its parameters.
func (k *apiHarness) grants() map[string][]string {
	k.Helper()
	_, refresh := k.tokens(confidentialID)
	device, user := k.newDevice(confidentialID)
	k.approveDevice(user)
	k.sessions++
	return map[string][]string{
		"code": {"grant_type", "authorization_code", "code", k.code(confidentialID, apiChallenge),
			"redirect_uri", apiRedirect, "code_verifier", apiVerifier},
		"refresh": {"grant_type", "refresh_token", "refresh_token", refresh},
		"device":  {"grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", device},
		"exchange": {"grant_type", exchangeGrant, "subject_token", sessionToken(strconv.Itoa(k.sessions)),
			"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
	}
}

// TOK-04, CVE-2026-53512, go-oauth2 4.5.4: holding what a grant asks for is not
// enough, in any of them: the client proves its secret. What fails uses nothing up.
func TestGrantsNeedTheSecret(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for name, form := range k.grants() {
		for _, attempt := range []struct {
			change apiRequest
			form   []string
		}{
			{nil, nil},
			{nil, []string{"client_id", confidentialID}},
			{nil, []string{"client_id", confidentialID, "client_secret", ""}},
			{nil, []string{"client_id", confidentialID, "client_secret", "x"}},
			{withBasic(confidentialID, ""), nil},
			{withBasic(confidentialID, "x"), nil},
			{withHeader("Authorization", "Bearer "+apiSecret), []string{"client_id", confidentialID}},
		} {
			k.token(attempt.change, append(attempt.form, form...)...).refused(http.StatusUnauthorized, "invalid_client", "*")
		}
		if got := k.token(k.as(confidentialID), form...); got.Status != http.StatusOK {
			t.Errorf("%s by its client, afterwards: %d %s", name, got.Status, got.Body)
		}
	}
}

// TOK-08, CVE-2026-55672, CVE-2023-2585: nothing can be redeemed by another client,
// nor spoilt for its own.
func TestGrantsOfAnotherClient(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.addApp("cli_other", partner.Confidential)
	for name, form := range k.grants() {
		k.token(withBasic("cli_other", apiSecret), form...).dead("")
		if name != "exchange" { // which public clients cannot ask for at all
			k.token(k.as(publicID), form...).dead("")
		}
		got := k.token(k.as(confidentialID), form...)
		if got.Status != http.StatusOK || !k.isLive(got.text("access_token")) {
			t.Errorf("%s by its client, afterwards: %d %s", name, got.Status, got.Body)
		}
	}
}

// CODE-02, REF-02, TX-04, CVE-2026-9802: what was used is used for the next process
// too, however young that is.
func TestUsedAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "restart.db")
	open := func(t testing.TB) storage.DB {
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	var cfg oauthserver.Config
	k := newAPIHarnessOn(t, open, func(c *oauthserver.Config) { cfg = *c })
	grants := k.grants()
	for name, form := range grants {
		if got := k.token(k.as(confidentialID), form...); got.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	k.Must(k.Store.Close())

	k.Clock.Advance(time.Second)
	k.Store = testdb.NewEnv(t, open)
	cfg.Store = k.Store
	server, err := oauthserver.New(cfg)
	k.Must(err)
	k.OAuth, k.API = server, server.APIHandler()
	for name, want := range map[string]string{
		"code": "code already used", "refresh": "refresh token reuse detected", "device": "", "exchange": "",
	} {
		t.Run(name, func(t *testing.T) { k.token(k.as(confidentialID), grants[name]...).dead(want) })
	}
}

// TOK-06, CVE-2026-86073: a refresh cannot move its tokens to another resource, and
// loses nothing by trying.
func TestRefreshForAnotherResource(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	_, refresh := k.tokens(confidentialID)
	form := []string{"grant_type", "refresh_token", "refresh_token", refresh}
	for _, resource := range []string{"https://evil.example.com/", appOrigin, "urn:x", ""} {
		k.token(k.as(confidentialID), append(form, "resource", resource)...).refused(http.StatusBadRequest, "invalid_target", "*")
	}
	k.token(k.as(confidentialID), form...).ok(tokenMembers)
}

// LOCK-01, CVE-2025-24806: one client is one client, however its id is spelt: no
// spelling gives a guesser another 30 tries.
func TestLockoutOfOneClient(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	spellings := []func(){
		func() { k.token(withBasic(confidentialID, "x")) },
		func() { k.token(nil, "client_id", confidentialID, "client_secret", "x") },
		func() { k.token(rawBasic("cli%5Fconfidential:x")) },
		func() { k.token(withBasic(confidentialID, ""), "client_secret", "x") },
		func() { k.token(withBasic(confidentialID, "x"), "client_id", confidentialID) },
	}
	for i := range 31 {
		spellings[i%len(spellings)]()
	}
	k.token(k.as(confidentialID), "grant_type", "x").limited()
}
