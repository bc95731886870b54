package guard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	plainChallenge = `Bearer resource_metadata="` + metadataURL + `"`
	scopeChallenge = `Bearer error="insufficient_scope", resource_metadata="` + metadataURL + `"`
)

// The reasons of a 401 (API-11).
const (
	notValid     = "the access token is not valid"
	revoked      = "the access token was revoked"
	expired      = "the access token expired"
	appRefused   = "the app may not call the API now"
	disconnected = "the business has disconnected the app"
	userRefused  = "the person who connected this app may not use it now"
)

func invalidChallenge(reason string) string {
	return `Bearer error="invalid_token", error_description="` + reason + `", resource_metadata="` + metadataURL + `"`
}

// outcome is what a response must be.
type outcome struct {
	status    int
	code      apierror.Code
	challenge string
	quota     bool // it carries the RateLimit headers
	version   string
}

// passed is the response of a route whose gates are all open.
func passed(r guard.Route) outcome {
	want := outcome{status: http.StatusOK, quota: true, version: "2026-09-01"}
	if strings.HasSuffix(r.Pattern, "/panic") || strings.HasSuffix(r.Pattern, "/broken") {
		want.status = http.StatusInternalServerError
	}
	return want
}

func (w outcome) refused(status int, code apierror.Code) outcome {
	w.status, w.code = status, code
	return w
}

// gate is a situation of a caller, and what a route then responds.
type gate struct {
	arrange func(k *api) []with
	want    func(r guard.Route) outcome
}

// asking is a challenge with the scope that a route needs (API-10).
func asking(challenge string, r guard.Route) string {
	if r.Scope == guard.AnyScope || r.Scope == "" {
		return challenge
	}
	return strings.Replace(challenge, "resource_metadata", `scope="`+r.Scope+`", resource_metadata`, 1)
}

// unauthorized is the outcome for calls without a valid identity.
func unauthorized(challenge string) func(guard.Route) outcome {
	return func(r guard.Route) outcome {
		return outcome{status: http.StatusUnauthorized, challenge: asking(challenge, r)}
	}
}

// ending is a token that was fine until something happened, and the reason that the app gets.
func ending(reason string, end func(k *api, g fixture.Tokens) error) gate {
	return gate{func(k *api) []with {
		g := k.grant(business, allScopes)
		k.send("GET /invoices", bearer(g.Access)).ok()
		k.Must(end(k, g))
		return []with{bearer(g.Access)}
	}, unauthorized(invalidChallenge(reason))}
}

// ofPeople is the outcome for a user with a session.
func ofPeople(r guard.Route) outcome {
	switch {
	case r.AppsOnly != apierror.Entry{}: // API-06
		return outcome{status: http.StatusForbidden, code: r.AppsOnly.Code}
	case r.SessionsAllowed:
		return outcome{status: http.StatusOK, version: "2026-09-01"}
	case r.Pattern == "GET /invoices":
		return outcome{status: http.StatusOK}
	case r.Pattern == "POST /invoices":
		return outcome{status: http.StatusMethodNotAllowed}
	}
	return outcome{status: http.StatusNotFound}
}

// API-01 to API-06, API-10, API-11, LIM-03, LIM-04, VER-02, ERR-01: every route in every situation.
var gates = map[string]gate{
	"all is well":     {func(k *api) []with { return []with{bearer(k.token())} }, passed},
	"no credentials":  {func(*api) []with { return nil }, unauthorized(plainChallenge)},
	"wrong token":     {func(*api) []with { return []with{bearer(secret.New(secret.AccessToken).Reveal())} }, unauthorized(invalidChallenge(notValid))},
	"malformed token": {func(*api) []with { return []with{bearer("x y")} }, unauthorized(invalidChallenge(notValid))},
	"expired": ending(expired, func(k *api, _ fixture.Tokens) error {
		k.Clock.Advance(lifetimes.AccessToken)
		return nil
	}),
	"revoked": ending(revoked, func(k *api, g fixture.Tokens) error {
		return k.revoke(g)
	}),
	"family ended": ending(revoked, func(k *api, g fixture.Tokens) error {
		_, err := k.Store.EndFamily(k.Context(), g.FamilyID, harness.Start)
		return err
	}),
	"app suspended": ending(appRefused, func(k *api, _ fixture.Tokens) error {
		return k.OAuth.SetAppStatus(k.Context(), k.app.ID, partner.AppSuspended)
	}),
	"app deactivated": ending(appRefused, func(k *api, _ fixture.Tokens) error {
		return k.OAuth.SetAppStatus(k.Context(), k.app.ID, partner.AppDeactivated)
	}),
	"user suspended": ending(userRefused, func(k *api, _ fixture.Tokens) error {
		return k.OAuth.SetUserStatus(k.Context(), user, identity.UserSuspended)
	}),
	"user restricted": ending(userRefused, func(k *api, _ fixture.Tokens) error {
		return k.OAuth.SetUserStatus(k.Context(), user, identity.UserRestricted)
	}),
	"consent revoked": ending(disconnected, func(k *api, _ fixture.Tokens) error {
		return k.Store.EndGrant(k.Context(), oauthstore.EndGrant{AppID: k.app.ID, BusinessID: business, UserID: user, Now: harness.Start})
	}),
	"uninstalled":    ending(disconnected, func(k *api, _ fixture.Tokens) error { return k.end(partner.InstallationRemoved) }),
	"access revoked": ending(disconnected, func(k *api, _ fixture.Tokens) error { return k.end(partner.InstallationRevoked) }),
	"no longer a member": ending(userRefused, func(k *api, _ fixture.Tokens) error {
		k.Host.RemoveBusiness(user, business)
		return nil
	}),
	"other business": {func(k *api) []with {
		return []with{bearer(k.grant("biz_2", allScopes).Access), header("X-Business-Id", business)}
	}, func(r guard.Route) outcome {
		switch {
		case r.Permission != "": // roles are per business
			return passed(r).refused(http.StatusForbidden, codes.PermissionRequired.Code)
		case strings.HasSuffix(r.Pattern, "/invoices/{id}"): // API-08
			return passed(r).refused(http.StatusNotFound, "")
		}
		return passed(r)
	}},
	"missing scope": {func(k *api) []with {
		return []with{bearer(k.grant(business, identity.MustScopes("customers:read")).Access)}
	}, func(r guard.Route) outcome {
		if r.Scope == guard.AnyScope {
			return passed(r)
		}
		want := passed(r).refused(http.StatusForbidden, codes.InsufficientScope.Code)
		want.challenge = asking(scopeChallenge, r)
		return want
	}},
	"missing permission": {func(k *api) []with {
		k.roles.role = guard.Member
		return []with{bearer(k.token())}
	}, func(r guard.Route) outcome {
		if r.Permission != "" {
			return passed(r).refused(http.StatusForbidden, codes.PermissionRequired.Code)
		}
		return passed(r)
	}},
	"bad version": {func(k *api) []with { return []with{bearer(k.token()), version("2024-01-01")} }, func(guard.Route) outcome {
		return outcome{status: http.StatusBadRequest, code: codes.UnsupportedAPIVersion.Code, quota: true}
	}},
	// The limit comes before version, scope and permission.
	"over the limit": {func(k *api) []with {
		k.roles.role = guard.Member
		token := k.grant(business, identity.MustScopes("customers:read")).Access
		for range 300 {
			k.send("GET /nothing", bearer(token))
		}
		return []with{bearer(token), version("2024-01-01")}
	}, func(guard.Route) outcome {
		return outcome{status: http.StatusTooManyRequests, code: codes.AppRateLimited.Code, quota: true}
	}},
	"session cookie": {func(k *api) []with { return []with{k.session(user, business)} }, ofPeople},
	"session without permission": {func(k *api) []with {
		k.roles.role = guard.Member
		return []with{k.session(user, business)}
	}, func(r guard.Route) outcome {
		if r.SessionsAllowed && r.Permission != "" {
			return outcome{status: http.StatusForbidden, code: codes.PermissionRequired.Code, version: "2026-09-01"}
		}
		return ofPeople(r)
	}},
	"session without a business": {func(k *api) []with { return []with{k.session(user, "")} }, func(r guard.Route) outcome {
		if r.SessionsAllowed {
			return outcome{status: http.StatusBadRequest, version: "2026-09-01"} // BIZ-05
		}
		return ofPeople(r)
	}},
	"session cookie and a wrong token": {func(k *api) []with {
		return []with{k.session(user, business), bearer("nothing")}
	}, unauthorized(invalidChallenge(notValid))},
}

func TestEveryRouteInEverySituation(t *testing.T) {
	t.Parallel()
	for name, gate := range gates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPI(t)
			changes := gate.arrange(k)
			for _, route := range k.routes() {
				a := k.send(strings.ReplaceAll(route.Pattern, "{id}", "inv_of_"+business), changes...)
				a.has(gate.want(route))
			}
		})
	}
}

// has compares a response with all that is wanted of it.
func (a response) has(want outcome) {
	a.Helper()
	if want.status >= 400 {
		a.refused(want.status, want.code)
	} else if a.Status != want.status {
		a.Errorf("%s: %d %s, want %d", a.Request, a.Status, a.Body, want.status)
	}
	if got := a.Header.Get("WWW-Authenticate"); got != want.challenge {
		a.Errorf("%s: challenge %q, want %q", a.Request, got, want.challenge)
	}
	if a.limited() != want.quota {
		a.Errorf("%s: header %v, want RateLimit headers: %v", a.Request, a.Header, want.quota)
	}
	if got := a.Header.Get("Service-Version"); got != want.version {
		a.Errorf("%s: version %q, want %q", a.Request, got, want.version)
	}
	isScope := strings.HasPrefix(a.text("message"), "Insufficient scope")
	if isScope != (want.code == codes.InsufficientScope.Code) { // API-03, API-05
		a.Errorf("%s: message %q", a.Request, a.text("message"))
	}
}

func (k *api) revoke(g fixture.Tokens) error {
	_, err := k.Store.RevokeAccessToken(k.Context(), g.AccessID, k.Clock.Now())
	return err
}

func (k *api) end(status partner.InstallationStatus) error {
	_, err := k.Store.EndInstallation(k.Context(), oauthstore.EndInstallation{
		AppID: k.app.ID, BusinessID: business, Status: status, Now: k.Clock.Now(), RedactAt: k.Clock.Now().Add(time.Hour),
		Record: func(partner.Installation) []partner.Event { return nil },
	})
	return err
}

// API-09: what ends a token on one node has ended it on the others.
func TestRevocationOnEveryNode(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	other, err := guard.New(guard.Config{Tokens: k.OAuth, Clock: k.Clock})
	k.Must(err)
	k.Must(other.Handle(guard.Route{Pattern: "GET /invoices", Scope: "invoices:read", Handler: k.echo}))
	g := k.grant(business, allScopes)
	for _, node := range []http.Handler{k.surface, other} {
		k.API = node
		k.send("GET /invoices", bearer(g.Access)).ok()
	}
	k.Must(k.revoke(g))
	for _, node := range []http.Handler{k.surface, other} {
		k.API = node
		k.send("GET /invoices", bearer(g.Access)).refused(http.StatusUnauthorized, "")
	}
}

// API-05: permissions are asked for at the time of the call, of the token's user
// in the token's business.
func TestPermissionsAtTheTimeOfTheCall(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	for _, test := range []struct {
		role guard.Role
		want int
	}{{guard.Owner, 200}, {guard.Member, 403}, {guard.Admin, 200}, {"", 403}, {"accountant", 403}} {
		k.roles.role = test.role
		if a := k.send("DELETE /payments/pay_1", bearer(token)); a.Status != test.want {
			t.Errorf("%q: %d, want %d", test.role, a.Status, test.want)
		}
	}
	roles := guard.DefaultRoles()
	roles[guard.Member] = []guard.Permission{"journal.post"}
	for permission, want := range map[guard.Permission]bool{"journal.post": true, "accounts.manage": false, "payments.delete": false, "apps.install": false} {
		if roles.Have(guard.Member, permission) != want || !roles.Have(guard.Owner, permission) || !roles.Have(guard.Admin, permission) {
			t.Errorf("%s: member %v", permission, !want)
		}
	}
}
