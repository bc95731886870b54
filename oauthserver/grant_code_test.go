package oauthserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

const tokenMembers = "access_token expires_in refresh_token scope token_type"

// TOK-02: exactly these members, and nothing is stored on the way.
func TestCodeGivesTokens(t *testing.T) {
	t.Parallel()
	for _, clientID := range []string{confidentialID, publicID} {
		k := newAPIHarness(t)
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
	k := newAPIHarness(t)
	early, late := k.code(confidentialID, apiChallenge), k.code(confidentialID, apiChallenge)
	k.Clock.Advance(10*time.Minute - time.Second)
	k.redeem(confidentialID, early).ok(tokenMembers)
	k.Clock.Advance(time.Second)
	k.redeem(confidentialID, late).dead("expired")
	// TOK-11: a used code is reported as used, even after its expiry.
	k.redeem(confidentialID, early).dead("code already used")
}

// lateBody is a body that a client sends some time after the headers.
type lateBody struct {
	io.ReadCloser
	wait func()
}

func (b *lateBody) Read(p []byte) (int, error) {
	if b.wait != nil {
		b.wait()
		b.wait = nil
	}
	return b.ReadCloser.Read(p)
}

// CODE-01, REF-03, DEV-04: what has expired when the body arrives is rejected, however early
// the headers came.
func TestExpiresBeforeALateBody(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.RefreshRetry = 30 * time.Second })
	late := func(by time.Duration) apiRequest {
		return func(r *http.Request) {
			k.as(confidentialID)(r)
			r.Body = &lateBody{r.Body, func() { k.Clock.Advance(by) }}
		}
	}
	code := k.code(confidentialID, apiChallenge)
	k.token(late(10*time.Minute), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect, "code_verifier", apiVerifier).dead("expired")
	device, user := k.newDevice(confidentialID)
	k.approveDevice(user)
	k.token(late(10*time.Minute), "grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", device).refused(http.StatusBadRequest, "expired_token", "*")
	_, refresh := k.tokens(confidentialID)
	next := k.refresh(confidentialID, refresh).ok(tokenMembers)
	k.token(late(30*time.Second), "grant_type", "refresh_token", "refresh_token", refresh).dead("refresh token reuse detected")
	k.refresh(confidentialID, next.text("refresh_token")).dead("revoked")
	_, refresh = k.tokens(confidentialID)
	k.token(late(30*24*time.Hour), "grant_type", "refresh_token", "refresh_token", refresh).dead("expired")
}

// CODE-02, CODE-06: a replay with everything right ends what the code gave; any
// other only gets the response.
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
			k := newAPIHarness(t)
			k.addApp("cli_other", partner.Confidential)
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

// CODE-04, CODE-05: each way to miss the request that the code came from. Those that are
// invalid_grant use the code up, those that are invalid_request do not.
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
			k := newAPIHarness(t)
			code := k.code(confidentialID, test.challenge)
			k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code,
				"redirect_uri", test.redirectURI, "code_verifier", test.verifier).refused(http.StatusBadRequest, test.code, test.description)
			verifier := apiVerifier
			if test.challenge == "" {
				verifier = ""
			}
			again := k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect, "code_verifier", verifier)
			if test.code == "invalid_grant" {
				again.dead("code already used")
			} else {
				again.ok(tokenMembers)
			}
		})
	}
}

// CODE-04: a request that fails before its redirect_uri and verifier are compared leaves
// the code unchanged.
func TestCodeUntouched(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.addApp("cli_other", partner.Confidential)
	for name, test := range map[string]struct {
		as         apiRequest
		parameters []string // beside the code
		status     int
		code       string
	}{
		"wrong secret":         {withBasic(confidentialID, "wrong"), nil, http.StatusUnauthorized, "invalid_client"},
		"another client":       {k.as(publicID), nil, http.StatusBadRequest, "invalid_grant"},
		"another, with secret": {k.as("cli_other"), nil, http.StatusBadRequest, "invalid_grant"},
		"invalid_target":       {k.as(confidentialID), []string{"resource", "https://elsewhere.example.com/"}, http.StatusBadRequest, "invalid_target"},
		"redirect_uri long":    {k.as(confidentialID), []string{"redirect_uri", strings.Repeat("x", 513)}, http.StatusBadRequest, "invalid_request"},
		"verifier twice":       {k.as(confidentialID), []string{"code_verifier", strings.Repeat("x", 43)}, http.StatusBadRequest, "invalid_request"},
	} {
		t.Run("CODE-04 "+name, func(t *testing.T) {
			code := k.code(confidentialID, apiChallenge)
			parameters := append([]string{"grant_type", "authorization_code", "code", code, "code_verifier", strings.Repeat("x", 43)}, test.parameters...)
			if name != "redirect_uri long" {
				parameters = append(parameters, "redirect_uri", "https://wrong.example.com/")
			}
			k.token(test.as, parameters...).refused(test.status, test.code, "*")
			k.redeem(confidentialID, code).ok(tokenMembers)
		})
	}
}

// CODE-04: of right and wrong redemptions at the same time one decides: either the right
// one gets tokens, which live, or one wrong one gets its reason. All others are late.
func TestCodeRaceWrong(t *testing.T) {
	t.Parallel()
	for range 4 {
		k, crowd := newCrowd(t)
		code := k.code(confidentialID, apiChallenge)
		responses := make([]apiResponse, 8)
		crowd.expect(len(responses))
		testdb.Race(len(responses), func(i int) {
			if i == 0 {
				responses[i] = k.redeem(confidentialID, code)
				return
			}
			responses[i] = k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code,
				"redirect_uri", apiRedirect, "code_verifier", strings.Repeat("x", 43))
		})
		winners := 0
		for _, got := range responses {
			switch {
			case got.Status == http.StatusOK:
				winners++
				if !k.isLive(got.text("access_token")) {
					t.Error("a wrong redemption ended the tokens of the right one")
				}
			case got.text("error_description") == "PKCE verification failed":
				winners++
			default:
				got.dead("code already used")
			}
		}
		if winners != 1 {
			t.Errorf("%d redemptions decided, want one", winners)
		}
	}
}

// CODE-07: if two checks fail, the error is that of the first check in the order.
func TestCodeOrder(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	code := k.code(confidentialID, apiChallenge)
	k.Clock.Advance(10 * time.Minute)
	wrong := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", "https://wrong.example.com/", "code_verifier", strings.Repeat("x", 43)}
	k.token(k.as(publicID), wrong...).dead("")
	k.token(k.as(confidentialID), wrong...).dead("expired")

	codes := []string{k.code(confidentialID, apiChallenge), k.code(confidentialID, apiChallenge), k.code(confidentialID, apiChallenge)}
	k.Must(k.OAuth.Uninstall(t.Context(), k.app(confidentialID).ID, apiBusiness, apiUser))
	wrong[3] = codes[0]
	k.token(k.as(confidentialID), wrong...).dead("redirect_uri mismatch")
	wrong[3], wrong[5] = codes[1], apiRedirect
	k.token(k.as(confidentialID), wrong...).dead("PKCE verification failed")
	k.redeem(confidentialID, codes[2]).dead("")
	k.redeem(confidentialID, codes[0]).dead("code already used")
}

// TOK-08: what is unknown, or another's, or of another kind, has no description.
// TOK-09 and the store: none of the last ones even costs a look.
func TestCodeUnknown(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
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
	k, crowd := newCrowd(t)
	code := k.code(confidentialID, apiChallenge)
	responses := make([]apiResponse, 8)
	crowd.expect(len(responses))
	testdb.Race(len(responses), func(i int) { responses[i] = k.redeem(confidentialID, code) })
	var winners []string
	for _, got := range responses {
		if got.Status == http.StatusOK {
			winners = append(winners, got.text("access_token"))
			continue
		}
		got.dead("code already used")
	}
	if len(winners) != 1 || k.isLive(winners[0]) {
		t.Errorf("%d winners, want one, whose token has ended", len(winners))
	}
}

// CODE-04, frappe#41533: the redirect_uri must equal that of the authorization request;
// another registered one is rejected.
func TestCodeOfAnotherRedirect(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	const other = "https://app.example.com/other"
	_, err := k.Store.UpdateApp(t.Context(), k.app(confidentialID).ID, func(a partner.App) (partner.App, error) {
		a.RedirectURIs = []string{other, apiRedirect}
		return a, nil
	})
	k.Must(err)
	code := k.code(confidentialID, apiChallenge)
	k.token(k.as(confidentialID), "grant_type", "authorization_code", "code", code, "redirect_uri", other, "code_verifier", apiVerifier).
		dead("redirect_uri mismatch")
	k.redeem(confidentialID, code).dead("code already used")
}
