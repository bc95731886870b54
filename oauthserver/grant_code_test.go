package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

const tokenMembers = "access_token expires_in refresh_token scope token_type"

// TOK-02: exactly these members, and nothing is stored on the way.
func TestCodeGivesTokens(t *testing.T) {
	t.Parallel()
	for _, clientID := range []string{confidentialID, publicID} {
		k := newAPIKit(t)
		got := k.redeem(clientID, k.code(clientID, apiChallenge)).ok(tokenMembers)
		if got.body["token_type"] != "Bearer" || got.body["expires_in"] != 3600.0 || got.body["scope"] != "invoices:read customers:read" {
			t.Errorf("answer %v", got.body)
		}
		// TOK-09: each kind has its prefix.
		if !strings.HasPrefix(got.text("access_token"), "pk_at_") || !strings.HasPrefix(got.text("refresh_token"), "pk_rt_") {
			t.Errorf("tokens %v", got.body)
		}
		if !k.isLive(got.text("access_token")) {
			t.Error("the access token is not live")
		}
	}
}

// CODE-01, CODE-03: the second before ten minutes is in time, the tenth minute
// itself is too late.
func TestCodeExpires(t *testing.T) {
	t.Parallel()
	k := newAPIKit(t)
	early, late := k.code(confidentialID, apiChallenge), k.code(confidentialID, apiChallenge)
	k.clock.Advance(10*time.Minute - time.Second)
	k.redeem(confidentialID, early).ok(tokenMembers)
	k.clock.Advance(time.Second)
	k.redeem(confidentialID, late).dead("expired")
	// TOK-11: a used code answers as used, also past its expiry.
	k.redeem(confidentialID, early).dead("code already used")
}

// CODE-02, CODE-06: a replay with everything right ends what the code gave; any
// other only gets the answer.
func TestCodeReplay(t *testing.T) {
	t.Parallel()
	replay := func(redirectURI, verifier string) []string {
		return []string{"grant_type", "authorization_code", "redirect_uri", redirectURI, "code_verifier", verifier}
	}
	for name, test := range map[string]struct {
		client      string
		parameters  []string
		description string
		survives    bool
	}{
		"own and right":   {confidentialID, replay(apiRedirect, apiVerifier), "code already used", false},
		"wrong redirect":  {confidentialID, replay(apiRedirect+"/", apiVerifier), "code already used", true},
		"wrong verifier":  {confidentialID, replay(apiRedirect, strings.Repeat("x", 43)), "code already used", true},
		"no verifier":     {confidentialID, replay(apiRedirect, ""), "code already used", true},
		"another client":  {publicID, replay(apiRedirect, apiVerifier), "", true},
		"another, public": {"cli_other", replay(apiRedirect, apiVerifier), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIKit(t)
			k.addApp("cli_other", oauthserver.Confidential)
			code := k.code(confidentialID, apiChallenge)
			got := k.redeem(confidentialID, code).ok(tokenMembers)
			k.token(k.as(test.client), append(test.parameters, "code", code)...).dead(test.description)
			if k.isLive(got.text("access_token")) != test.survives {
				t.Errorf("the access token survives: %t, want %t", !test.survives, test.survives)
			}
			if !test.survives {
				k.refresh(confidentialID, got.text("refresh_token")).dead("revoked")
			}
		})
	}
}

// CODE-04, CODE-05: each way to miss the request that the code came from. None
// uses the code up.
func TestCodeBinding(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		challenge             string
		redirectURI, verifier string
		code, description     string
	}{
		"redirect, slash":           {apiChallenge, apiRedirect + "/", apiVerifier, "invalid_grant", "redirect_uri mismatch"},
		"redirect, case":            {apiChallenge, "https://APP.example.com/callback", apiVerifier, "invalid_grant", "redirect_uri mismatch"},
		"redirect before verifier":  {apiChallenge, apiRedirect + "/", "", "invalid_grant", "redirect_uri mismatch"},
		"verifier wrong":            {apiChallenge, apiRedirect, apiVerifier + "x", "invalid_grant", "PKCE verification failed"},
		"verifier is the challenge": {apiChallenge, apiRedirect, apiChallenge, "invalid_grant", "PKCE verification failed"},
		"verifier missing":          {apiChallenge, apiRedirect, "", "invalid_request", "code_verifier is missing"},
		"verifier short":            {apiChallenge, apiRedirect, apiVerifier[:42], "invalid_request", "code_verifier is malformed"},
		"verifier long":             {apiChallenge, apiRedirect, strings.Repeat("x", 129), "invalid_request", "code_verifier is malformed"},
		"verifier characters":       {apiChallenge, apiRedirect, strings.Repeat("ä", 30), "invalid_request", "code_verifier is malformed"},
		"no challenge, a verifier":  {"", apiRedirect, apiVerifier, "invalid_grant", "PKCE verification failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIKit(t)
			code := k.code(confidentialID, test.challenge)
			k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code,
				"redirect_uri", test.redirectURI, "code_verifier", test.verifier).refused(http.StatusBadRequest, test.code, test.description)
			verifier := apiVerifier
			if test.challenge == "" {
				verifier = ""
			}
			k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code,
				"redirect_uri", apiRedirect, "code_verifier", verifier).ok(tokenMembers)
		})
	}
}

// CODE-07: of two things wrong the first in the order is told.
func TestCodeOrder(t *testing.T) {
	t.Parallel()
	k := newAPIKit(t)
	code := k.code(confidentialID, apiChallenge)
	k.clock.Advance(10 * time.Minute)
	wrong := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", "https://wrong.example.com/", "code_verifier", strings.Repeat("x", 43)}
	k.token(k.as(publicID), wrong...).dead("")
	k.token(k.as(confidentialID), wrong...).dead("expired")

	code = k.code(confidentialID, apiChallenge)
	k.must(k.server.Uninstall(t.Context(), k.app(confidentialID).ID, apiBusiness))
	wrong[3] = code
	k.token(k.as(confidentialID), wrong...).dead("redirect_uri mismatch")
	wrong[5] = apiRedirect
	k.token(k.as(confidentialID), wrong...).dead("PKCE verification failed")
	k.redeem(confidentialID, code).dead("")
}

// TOK-08: what is unknown, or another's, or of another kind, has no description.
// TOK-09 and the store: none of the last ones even costs a look.
func TestCodeUnknown(t *testing.T) {
	t.Parallel()
	k := newAPIKit(t)
	_, refresh := k.tokens(confidentialID)
	for name, code := range map[string]string{
		"unknown":         secret.New(secret.AuthorizationCode).Reveal(),
		"refresh token":   refresh,
		"of no form":      "hello",
		"another's":       k.code(publicID, apiChallenge),
		"with a space":    k.code(confidentialID, apiChallenge) + " ",
		"another spelled": strings.ToUpper(k.code(confidentialID, apiChallenge)),
	} {
		t.Run(name, func(t *testing.T) { k.redeem(confidentialID, code).dead("") })
	}
}

// CODE-06: of N redemptions at once one succeeds, and the others, being replays,
// end what it got.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	k, crowd := newCrowdKit(t)
	code := k.code(confidentialID, apiChallenge)
	answers := make([]apiAnswer, 8)
	crowd.expect(len(answers))
	storetest.Race(len(answers), func(i int) { answers[i] = k.redeem(confidentialID, code) })
	var winners []string
	for _, got := range answers {
		if got.status == http.StatusOK {
			winners = append(winners, got.text("access_token"))
			continue
		}
		got.dead("code already used")
	}
	if len(winners) != 1 || k.isLive(winners[0]) {
		t.Errorf("%d winners, want one, whose token has ended", len(winners))
	}
}

// CODE-04, frappe#41533: the redirect_uri is that of the request which the code came
// from, and not any that the app has registered.
func TestCodeOfAnotherRedirect(t *testing.T) {
	t.Parallel()
	k := newAPIKit(t)
	const other = "https://app.example.com/other"
	_, err := k.store.UpdateApp(t.Context(), k.app(confidentialID).ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.RedirectURIs = []string{other, apiRedirect}
		return a, nil
	})
	k.must(err)
	code := k.code(confidentialID, apiChallenge)
	k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code, "redirect_uri", other, "code_verifier", apiVerifier).
		dead("redirect_uri mismatch")
	k.redeem(confidentialID, code).ok(tokenMembers)
}
