package guard_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// API-02, VER-01: the principal that the handler gets depends on the token alone.
func TestPrincipalOfAToken(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	installation, err := k.Store.ActiveInstallation(t.Context(), k.app.ID, business)
	k.Must(err)
	r := httptest.NewRequest(http.MethodDelete, "/payments/pay_1?business_id=biz_2&businessId=biz_2", strings.NewReader(`{"businessId": "biz_2"}`))
	got := k.do(r, bearer(token), header("X-Business-Id", "biz_2"), header("Business-Id", "biz_2"), k.session("usr_2", "biz_2")).ok()
	want := map[string]any{
		"app": k.app.ID, "client": k.app.ClientID, "installation": installation.ID, "business": business, "user": user,
		"scopes": allScopes.String(), "version": "2026-09-01", "signIn": "oauth", "id": "pay_1", "pattern": "DELETE /payments/{id}",
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
}

// What a session gives where it is allowed: a user and a business, and no app.
func TestPrincipalOfASession(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	got := k.send("GET /profile", k.session(user, business), version("2026-01-15")).ok()
	want := map[string]any{
		"app": "", "client": "", "installation": "", "business": business, "user": user,
		"scopes": "", "version": "2026-01-15", "signIn": "session", "id": "", "pattern": "GET /profile",
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
	if got := k.send("GET /invoices", k.session(user, business)).ok(); got.text("fallback") != user {
		t.Errorf("the host's own handler got %s", got.Body)
	}
}

// API-01: a token is taken from one Authorization header with the scheme Bearer,
// and from nowhere else.
func TestWhereATokenIsLookedFor(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	authorization := func(value string) with { return header("Authorization", value) }
	for name, test := range map[string]struct {
		changes   []with
		want      int
		challenge string
	}{
		"bearer":                 {[]with{authorization("Bearer " + token)}, 200, ""},
		"lower case":             {[]with{authorization("bearer " + token)}, 200, ""},
		"upper case":             {[]with{authorization("BEARER " + token)}, 200, ""},
		"two spaces":             {[]with{authorization("Bearer  " + token)}, 200, ""},
		"spaces around":          {[]with{authorization(" Bearer " + token + " ")}, 200, ""},
		"a cookie beside it":     {[]with{authorization("Bearer " + token), k.session(user, business)}, 200, ""},
		"no value":               {[]with{authorization("Bearer")}, 401, invalidChallenge(notValid)},
		"no value but a space":   {[]with{authorization("Bearer ")}, 401, invalidChallenge(notValid)},
		"no value and a cookie":  {[]with{authorization("Bearer"), k.session(user, business)}, 401, invalidChallenge(notValid)},
		"two tokens":             {[]with{authorization("Bearer " + token + " " + token)}, 401, invalidChallenge(notValid)},
		"two headers":            {[]with{authorization("Bearer " + token), authorization("Bearer " + token)}, 401, invalidChallenge(notValid)},
		"two headers, one basic": {[]with{authorization("Basic eDp5"), authorization("Bearer " + token)}, 401, invalidChallenge(notValid)},
		"two headers, a cookie":  {[]with{authorization("Basic eDp5"), authorization("Basic eDp5"), k.session(user, business)}, 401, plainChallenge},
		"a comma":                {[]with{authorization("Bearer " + token + ", Bearer " + token)}, 401, invalidChallenge(notValid)},
		"quotes":                 {[]with{authorization(`Bearer "` + token + `"`)}, 401, invalidChallenge(notValid)},
		"no scheme":              {[]with{authorization(token)}, 401, plainChallenge},
		"basic":                  {[]with{authorization("Basic eDp5")}, 401, plainChallenge},
		"basic beside a cookie":  {[]with{authorization("Basic eDp5"), k.session(user, business)}, 200, ""},
		"empty":                  {[]with{authorization("")}, 401, plainChallenge},
		"other prefix":           {[]with{authorization("Bearers " + token)}, 401, plainChallenge},
		"a refresh token":        {[]with{authorization("Bearer " + secret.New(secret.RefreshToken).Reveal())}, 401, invalidChallenge(notValid)},
		"not ASCII":              {[]with{authorization("Bearer \xff\x00\u20ac")}, 401, invalidChallenge(notValid)},
		"very long":              {[]with{authorization("Bearer " + strings.Repeat("x", 100_000))}, 401, invalidChallenge(notValid)},
		"in the query":           {[]with{func(r *http.Request) { r.URL.RawQuery = "access_token=" + token }}, 401, plainChallenge},
		"in another header":      {[]with{header("X-Access-Token", token)}, 401, plainChallenge},
		"in a cookie":            {[]with{func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "access_token", Value: token}) }}, 401, plainChallenge},
	} {
		a := k.send("GET /invoices", test.changes...)
		test.challenge = asking(test.challenge, guard.Route{Scope: "invoices:read"})
		if a.Status != test.want || a.Header.Get("WWW-Authenticate") != test.challenge {
			t.Errorf("%s: %d with the challenge %q, want %d %q", name, a.Status, a.Header.Get("WWW-Authenticate"), test.want, test.challenge)
		}
		if strings.Contains(a.Body, token) {
			t.Errorf("%s: the answer repeats the token", name)
		}
	}
	form := httptest.NewRequest(http.MethodPost, "/invoices", strings.NewReader("access_token="+token))
	k.do(form, header("Content-Type", "application/x-www-form-urlencoded")).has(unauthorized(plainChallenge)(guard.Route{Scope: "invoices:write"}))
}

// API-03: scopes are those that hold at the call, and nothing widens a live token.
func TestScopesAtTheTimeOfTheCall(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	narrow := k.grant(business, identity.MustScopes("invoices:read")).Access
	wide := k.token() // widens the installation
	k.send("POST /invoices", bearer(wide)).ok()
	a := k.send("POST /invoices", bearer(narrow)).refused(http.StatusForbidden, codes.InsufficientScope.Code)
	if a.text("message") != "Insufficient scope: this call needs invoices:write" {
		t.Errorf("message %q", a.text("message"))
	}
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), k.app.ID, business, identity.MustScopes("invoices:read")))
	k.send("POST /invoices", bearer(wide)).refused(http.StatusForbidden, codes.InsufficientScope.Code)
	k.send("GET /invoices", bearer(wide)).ok()
}

// API-04: with a token, a route that is not declared is not exposed, even if it exists.
// Without credentials the response is 401; with a session the host responds.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	for call, ofPeople := range map[string]int{
		"GET /nothing":                 404,
		"GET /":                        404,
		"PUT /invoices":                405, // the host has the path
		"DELETE /invoices":             405,
		"OPTIONS /invoices":            405,
		"PURGE /invoices":              405,
		"POST /settings":               204, // the host has it
		"GET /settings":                405,
		"POST /events":                 404,
		"GET /app-data":                404,
		"GET /invoices/":               404,
		"GET /invoices/inv_1/lines":    404,
		"GET /Invoices":                404,
		"GET //invoices":               307, // what is not clean leads the host's people to what is
		"GET /x/../invoices":           307,
		"GET /invoices%2Finv_1":        404,
		"GET /oauth/token":             404,
		"GET /invoices;x":              404,
		"TRACE /invoices":              405,
		"GET /payments/pay_1":          404,
		"GET /./profile":               307,
		"GET /app-data/adv_1":          404,
		"HEAD /app-data":               404,
		"POST /invoices/inv_1":         404,
		"DELETE /payments/pay_1/x":     404,
		"GET /developer/apps":          404,
		"GET /.well-known/nothing":     404,
		"PATCH /profile":               404,
		"GET /panic/":                  404,
		"GET /broken/../settings/../x": 307,
	} {
		method, _, _ := strings.Cut(call, " ")
		a := k.send(call, bearer(token))
		if method == http.MethodHead {
			if a.Status != http.StatusForbidden || !a.limited() {
				t.Errorf("%s: %d", call, a.Status)
			}
		} else if a.refused(http.StatusForbidden, codes.EndpointNotExposed.Code); a.text("message") != "endpoint not exposed to OAuth clients" || !a.limited() {
			t.Errorf("%s: %s", call, a.Body)
		}
		if a := k.send(call); a.Status != http.StatusUnauthorized || a.Header.Get("WWW-Authenticate") != plainChallenge {
			t.Errorf("%s without credentials: %d", call, a.Status)
		}
		a = k.send(call, k.session(user, business))
		if a.Status != ofPeople {
			t.Errorf("%s with a session: %d %s, want %d", call, a.Status, a.Header.Get("Location"), ofPeople)
		}
		if a.Status >= 400 && method != http.MethodHead {
			a.refused(ofPeople, "")
		}
	}
	if a := k.send("HEAD /invoices", bearer(token)); a.Status != http.StatusOK {
		t.Errorf("HEAD of a GET: %d", a.Status)
	}
}

// ERR-02: a failure of the store or the host is a 5xx response without details, even if the
// error has another meaning elsewhere.
func TestFaults(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	detail := apierror.NotFound("secret detail")
	for name, test := range map[string]struct {
		breakIt func()
		call    string
		who     with
	}{
		"the store":   {func() { k.Store.Tap.Arm("error", 1) }, "GET /invoices", bearer(token)},
		"membership":  {func() { k.Host.SetError(detail) }, "GET /invoices", bearer(token)},
		"sessions":    {func() { k.Host.SetError(detail) }, "GET /invoices", k.session(user, business)},
		"permissions": {func() { k.roles.fault = detail }, "DELETE /payments/pay_1", bearer(token)},
		"a handler":   {func() {}, "GET /broken", bearer(token)},
		"a panic":     {func() {}, "GET /panic", bearer(token)},
	} {
		test.breakIt()
		a := k.send(test.call, test.who).refused(http.StatusInternalServerError, "")
		k.Host.SetError(nil)
		k.roles.fault = nil
		k.Store.Tap.Reset()
		if strings.Contains(a.Body, "secret") || a.Header.Get("X-Request-Id") == "" || !strings.Contains(a.text("message"), a.Header.Get("X-Request-Id")) {
			t.Errorf("%s: %s %v", name, a.Body, a.Header)
		}
	}
	if _, err := guard.New(guard.Config{}); err == nil || errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("a surface without tokens: %v", err)
	}
}

// CON-07: a page of another site cannot write with a user's cookie; programs and our own
// pages can, and a token needs no such thing.
func TestWritesOfOtherSites(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token, signedIn := k.token(), k.session(user, business)
	for _, test := range []struct {
		call, origin, site string
		who                with
		want               int
	}{
		{"POST /profile", "", "", signedIn, 200},
		{"POST /profile", "https://app.example.com", "same-site", signedIn, 200},
		{"POST /profile", "https://evil.example.com", "", signedIn, 403},
		{"POST /profile", "https://evil.example.com", "cross-site", signedIn, 403},
		{"POST /profile", "", "cross-site", signedIn, 403},
		{"POST /settings", "https://evil.example.com", "cross-site", signedIn, 403},
		{"POST /settings", "https://app.example.com", "same-site", signedIn, 204},
		{"GET /profile", "https://evil.example.com", "cross-site", signedIn, 200},
		{"POST /profile", "https://evil.example.com", "cross-site", bearer(token), 200},
	} {
		changes := []with{test.who}
		if test.origin != "" {
			changes = append(changes, header("Origin", test.origin))
		}
		if test.site != "" {
			changes = append(changes, header("Sec-Fetch-Site", test.site))
		}
		if a := k.send(test.call, changes...); a.Status != test.want {
			t.Errorf("%s from %q, %q: %d, want %d", test.call, test.origin, test.site, a.Status, test.want)
		}
	}
}

// anyToken accepts every token, and returns fault if it is set.
type anyToken struct {
	asked []string
	fault error
}

func (a *anyToken) VerifyAccessToken(_ context.Context, token string) (identity.Principal, error) {
	a.asked = append(a.asked, token)
	return identity.Principal{AppID: "app_1", BusinessID: business, UserID: user, Scopes: allScopes}, a.fault
}

// API-01, ERR-02: the host's verifier is called for tokens only, and each of its errors is
// an internal error, even one that has another meaning elsewhere.
func TestTokensOfAHost(t *testing.T) {
	t.Parallel()
	verifier := &anyToken{}
	k := newAPI(t, func(c *guard.Config) { c.Tokens = verifier })
	for _, value := range []string{"Bearer", "Bearer ", "Basic eDp5", ""} {
		k.send("GET /invoices", header("Authorization", value)).refused(http.StatusUnauthorized, "")
	}
	k.send("GET /invoices", bearer("a"), bearer("b")).refused(http.StatusUnauthorized, "")
	k.send("GET /invoices", bearer("mine")).ok()
	verifier.fault = apierror.NotFound("secret detail")
	k.send("GET /invoices", bearer("mine")).refused(http.StatusInternalServerError, "")
	if diff := cmp.Diff([]string{"mine", "mine"}, verifier.asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
}
