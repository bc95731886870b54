package partnerkit_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// Two more people of the business: the one may connect apps there, the other may not.
const (
	taker  = "usr_grace"
	helper = "usr_mia"
)

// departures is a platform whose routes say for whom they are called.
type departures struct {
	*partnertest.Harness
	t    *testing.T
	told *told
}

func newDepartures(t *testing.T, edits ...func(*partnerkit.Config)) departures {
	t.Helper()
	d := departures{t: t, told: &told{}}
	whose := func(w http.ResponseWriter, r *http.Request) error {
		p, _ := identity.PrincipalFrom(r.Context())
		return apierror.WriteJSON(w, http.StatusOK, map[string]string{"user": p.UserID, "scopes": p.Scopes.String()})
	}
	d.Harness = partnertest.New(t, append([]func(*partnerkit.Config){func(c *partnerkit.Config) {
		c.Notifier = d.told
		c.Permissions = guard.Roles{"taker": {"journal.post"}}.Permissions(func(_ context.Context, _, userID string) (guard.Role, error) {
			if userID == taker {
				return "taker", nil
			}
			return "", nil
		})
		c.Routes = []guard.Route{
			{Pattern: "GET /invoices", Scope: "invoices:read", Handler: whose},
			{Pattern: "POST /journal-entries", Scope: "journal:write", Permission: "journal.post", Handler: whose},
		}
	}}, edits...)...)
	d.Host.AddBusiness(taker, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery", MayConnect: true})
	d.Host.AddBusiness(helper, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery"})
	return d
}

// leave ends a membership without telling the platform.
func (d departures) leave(userID string) { d.Host.RemoveBusiness(userID, partnertest.Business) }

func (d departures) comeBack(userID string) {
	d.Host.AddBusiness(userID, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery", MayConnect: true})
}

func (d departures) takeOver(app *partnertest.App, userID string) error {
	return d.OAuth().TakeOver(d.t.Context(), app.ID, partnertest.Business, userID)
}

func (d departures) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// wantTold checks the notifications since the last call that are about connections.
func (d departures) wantTold(what string, want ...string) {
	d.t.Helper()
	d.Settle()
	got := slices.DeleteFunc(d.told.take(), func(line string) bool { return !strings.HasPrefix(line, "connection.") })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		d.t.Errorf("INST-06 %s (-want +got):\n%s", what, diff)
	}
}

// wantCaller checks for whom a call of the app is made.
func (d departures) wantCaller(app *partnertest.App, userID string) {
	d.t.Helper()
	if got := app.Get("/invoices").Want(http.StatusOK).Text("user"); got != userID {
		d.t.Errorf("a call for %q, want %q", got, userID)
	}
}

// wantRejected checks that calls and refreshes are rejected for the person who left.
func (d departures) wantRejected(app *partnertest.App) {
	d.t.Helper()
	call := app.Get("/invoices").Want(http.StatusUnauthorized)
	if got := call.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error_description="the person who connected this app may not use it now"`) {
		d.t.Errorf("API-11: challenge %s", got)
	}
	refused := d.refresh(app).Want(http.StatusBadRequest)
	if refused.Text("error") != "access_denied" || refused.Text("error_description") != "the person who connected this app may not use it now" {
		d.t.Errorf("TOK-12: %s", refused.Body)
	}
}

func (d departures) refresh(app *partnertest.App) *partnertest.Response {
	return app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {app.RefreshToken}})
}

// wantStatus checks the status that an error has in a response.
func (d departures) wantStatus(err error, status int, code apierror.Code) {
	d.t.Helper()
	problem, ok := errors.AsType[*apierror.Error](err)
	if !ok || problem.Status() != status || problem.Code() != code {
		d.t.Errorf("%v, want %d %s", err, status, code)
	}
}

func TestDeparture(t *testing.T) {
	t.Parallel()
	t.Run("INST-06 the first rejected call is told, once for each departure", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.wantCaller(app, partnertest.User)
		d.leave(partnertest.User)
		d.wantTold("before anything is rejected")
		d.wantRejected(app)
		d.wantRejected(app)
		d.wantTold("a departure", "connection.orphaned biz_bakery usr_ada")
		d.comeBack(partnertest.User)
		d.wantCaller(app, partnertest.User)
		app.Refresh()
		d.leave(partnertest.User)
		d.refresh(app).Want(http.StatusBadRequest)
		d.wantRejected(app)
		d.wantTold("the next departure, at a refresh", "connection.orphaned biz_bakery usr_ada")
	})
	t.Run("INST-06 the host says so", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		first := d.Connect(partnertest.ConnectOptions{})
		second, public := d.Connect(partnertest.ConnectOptions{}), d.Connect(partnertest.ConnectOptions{Type: partner.Public})
		gone := d.Connect(partnertest.ConnectOptions{})
		d.must(d.OAuth().Uninstall(t.Context(), gone.ID, partnertest.Business, ""))
		d.Connect(partnertest.ConnectOptions{App: first, UserID: taker})
		d.leave(partnertest.User)
		for range 3 {
			d.must(d.MemberLeft(t.Context(), partnertest.Business, partnertest.User))
		}
		for _, app := range []*partnertest.App{first, second, public} {
			d.wantRejected(app)
		}
		d.must(d.MemberLeft(t.Context(), partnertest.Business, "usr_nobody"))
		d.wantTold("a departure, for each app", "connection.orphaned biz_bakery usr_ada", "connection.orphaned biz_bakery usr_ada")
		d.comeBack(partnertest.User)
		d.Connect(partnertest.ConnectOptions{App: second}) // a new consent says that the person is back
		d.leave(partnertest.User)
		d.must(d.MemberLeft(t.Context(), partnertest.Business, partnertest.User))
		d.wantTold("the next departure, for the app of which it is known that the person was back", "connection.orphaned biz_bakery usr_ada")
	})
	t.Run("INST-06 a person who is suspended has not left", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.must(d.OAuth().SetUserStatus(t.Context(), partnertest.User, identity.UserSuspended))
		d.wantRejected(app)
		d.wantTold("a suspension")
		d.wantStatus(d.takeOver(app, taker), http.StatusConflict, codes.Conflict.Code)
	})
	t.Run("INST-06 the host fails: 5xx, and nothing is lost", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.leave(partnertest.User)
		d.Host.SetError(errors.New("the host's database is down"))
		app.Get("/invoices").Want(http.StatusInternalServerError)
		d.refresh(app).Want(http.StatusInternalServerError)
		if err := d.takeOver(app, taker); err == nil {
			t.Error("a take-over without the host")
		} else if problem, ok := errors.AsType[*apierror.Error](err); ok && problem.Status() < 500 {
			t.Errorf("a take-over without the host: %v", err)
		}
		d.Host.SetError(nil)
		d.wantTold("while the host fails")
		d.wantRejected(app)
		d.must(d.takeOver(app, taker))
		d.wantCaller(app, taker)
		d.wantTold("afterwards", "connection.orphaned biz_bakery usr_ada", "connection.taken_over biz_bakery usr_grace")
	})
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	t.Run("INST-06 the app's tokens work again, for the person who took it over", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read", "journal:write"}})
		app.Do(http.MethodPost, "/journal-entries", nil).Want(http.StatusForbidden)
		d.leave(partnertest.User)
		d.wantRejected(app)
		d.must(d.takeOver(app, taker))
		d.wantCaller(app, taker)
		if got := app.Get("/invoices").Text("scopes"); got != "invoices:read journal:write" {
			t.Errorf("scopes %s", got)
		}
		app.Do(http.MethodPost, "/journal-entries", nil).Want(http.StatusOK) // the permissions are the taker's
		app.Refresh()
		d.wantCaller(app, taker)
		d.wantTold("a departure and a take-over", "connection.orphaned biz_bakery usr_ada", "connection.taken_over biz_bakery usr_grace")
		entries, err := d.Store.Audit(t.Context(), audit.Query{AppID: app.ID, Action: audited.ConnectionTakenOver, Limit: 9})
		if err != nil || len(entries) != 1 || entries[0].UserID != taker || entries[0].Target != partnertest.Business {
			t.Errorf("audit %+v, %v", entries, err)
		}
		d.comeBack(partnertest.User)
		d.wantCaller(app, taker)
		d.leave(taker)
		d.wantRejected(app)
		d.must(d.takeOver(app, partnertest.User))
		d.wantCaller(app, partnertest.User)
	})
	t.Run("INST-06 all consents of people who left are merged into the taker's", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.comeBack("usr_bob")
		second := d.Connect(partnertest.ConnectOptions{App: app, UserID: "usr_bob", Scopes: []string{"invoices:read", "journal:write"}})
		d.comeBack("usr_eve")
		stays := d.Connect(partnertest.ConnectOptions{App: app, UserID: "usr_eve", Scopes: []string{"invoices:read"}})
		own := d.Connect(partnertest.ConnectOptions{App: app, UserID: taker, Scopes: []string{"invoices:read"}})
		d.leave(partnertest.User)
		d.leave("usr_bob")
		d.must(d.takeOver(app, taker))
		for _, one := range []*partnertest.App{app, second, own} {
			d.wantCaller(one, taker)
		}
		d.wantCaller(stays, "usr_eve")
		d.must(d.OAuth().RevokeConsent(t.Context(), app.ID, partnertest.Business, taker))
		for _, one := range []*partnertest.App{app, second, own} {
			one.Get("/invoices").Want(http.StatusUnauthorized)
			if got := d.refresh(one).Want(http.StatusBadRequest).Text("error"); got != "invalid_grant" {
				t.Errorf("a refresh after the consent was revoked: %s", got)
			}
		}
		d.wantCaller(stays, "usr_eve")
	})
	t.Run("INST-06 what had ended stays ended", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.must(d.OAuth().RevokeConsent(t.Context(), app.ID, partnertest.Business, partnertest.User))
		burned, live := d.Connect(partnertest.ConnectOptions{App: app}), d.Connect(partnertest.ConnectOptions{App: app})
		d.refresh(burned).Want(http.StatusOK)
		d.refresh(burned).Want(http.StatusBadRequest) // REF-02
		d.leave(partnertest.User)
		d.must(d.takeOver(app, taker))
		for _, one := range []*partnertest.App{app, burned} {
			one.Get("/invoices").Want(http.StatusUnauthorized)
			if got := d.refresh(one).Want(http.StatusBadRequest).Text("error"); got != "invalid_grant" {
				t.Errorf("a refresh: %s", got)
			}
		}
		d.wantCaller(live, taker)
	})
	t.Run("INST-06 exchanged tokens of the person who left end", func(t *testing.T) {
		t.Parallel()
		for name, edit := range map[string]func(*partnerkit.Config){
			"alone": func(*partnerkit.Config) {}, "with a refresh token": func(c *partnerkit.Config) { c.OAuth.ExchangeRefresh = true },
		} {
			d := newDepartures(t, edit)
			app := d.Connect(partnertest.ConnectOptions{})
			exchange := func(userID string) *partnertest.App {
				token, err := d.OAuth().IssueSessionToken(t.Context(), oauthserver.NewSessionToken{ClientID: app.ClientID, BusinessID: partnertest.Business, UserID: userID})
				d.must(err)
				one := *app
				one.RefreshToken = ""
				got := app.Token(url.Values{
					"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {token}, "subject_token_type": {"urn:ietf:params:oauth:token-type:jwt"},
				}).Want(http.StatusOK)
				refresh, _ := got.JSON()["refresh_token"].(string)
				return withToken(&one, got.Text("access_token"), refresh)
			}
			exchanged, takers := exchange(partnertest.User), exchange(taker)
			d.leave(partnertest.User)
			d.must(d.takeOver(app, taker))
			d.comeBack(partnertest.User)
			if d.isLive(exchanged) || !d.isLive(takers) {
				t.Errorf("%s: the token of the person who left is live: %v, the taker's: %v", name, d.isLive(exchanged), d.isLive(takers))
			}
			if exchanged.RefreshToken != "" {
				d.refresh(exchanged).Want(http.StatusBadRequest)
				d.refresh(takers).Want(http.StatusOK)
			}
		}
	})
	t.Run("INST-06 who may not, and where nobody has left", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app, public := d.Connect(partnertest.ConnectOptions{}), d.Connect(partnertest.ConnectOptions{Type: partner.Public})
		d.wantStatus(d.takeOver(app, taker), http.StatusConflict, codes.Conflict.Code)
		d.leave(partnertest.User)
		for _, userID := range []string{helper, partnertest.User, "usr_nobody"} {
			d.wantStatus(d.takeOver(app, userID), http.StatusForbidden, "")
		}
		d.must(d.OAuth().SetUserStatus(t.Context(), taker, identity.UserRestricted))
		d.wantStatus(d.takeOver(app, taker), http.StatusForbidden, "")
		d.must(d.OAuth().SetUserStatus(t.Context(), taker, identity.UserActive))
		d.wantStatus(d.takeOver(public, taker), http.StatusConflict, codes.Conflict.Code)
		d.must(d.OAuth().SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
		d.wantStatus(d.takeOver(app, taker), http.StatusBadRequest, "")
		d.must(d.OAuth().SetAppStatus(t.Context(), app.ID, partner.AppActive))
		d.wantTold("refused take-overs")
		d.must(d.takeOver(app, taker))
		d.wantStatus(d.takeOver(app, taker), http.StatusConflict, codes.Conflict.Code)
		d.must(d.OAuth().Uninstall(t.Context(), app.ID, partnertest.Business, ""))
		if err := d.takeOver(app, taker); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("not installed: %v", err)
		}
	})
	t.Run("INST-06 an erased user's connections cannot be taken over", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.leave(partnertest.User)
		_, err := d.EraseUser(t.Context(), partnertest.User)
		d.must(err)
		d.wantStatus(d.takeOver(app, taker), http.StatusConflict, codes.Conflict.Code)
		app.Get("/invoices").Want(http.StatusUnauthorized)
	})
	t.Run("OPS-04 erasing the person who left does not end what another person took over", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t)
		app := d.Connect(partnertest.ConnectOptions{})
		d.leave(partnertest.User)
		d.must(d.takeOver(app, taker))
		_, err := d.EraseUser(t.Context(), partnertest.User)
		d.must(err)
		d.wantCaller(app, taker)
		_, err = d.EraseUser(t.Context(), taker)
		d.must(err)
		app.Get("/invoices").Want(http.StatusUnauthorized)
		d.refresh(app).Want(http.StatusBadRequest)
	})
	t.Run("REF-08 a lost response is repeated after a take-over", func(t *testing.T) {
		t.Parallel()
		d := newDepartures(t, func(c *partnerkit.Config) { c.OAuth.RefreshRetry = lifetimes.AccessToken })
		app := d.Connect(partnertest.ConnectOptions{})
		first := d.refresh(app).Want(http.StatusOK)
		d.leave(partnertest.User)
		if got := d.refresh(app).Want(http.StatusBadRequest).Text("error"); got != "access_denied" {
			t.Errorf("a retry for somebody who has left: %s", got)
		}
		d.must(d.takeOver(app, taker))
		again := d.refresh(app).Want(http.StatusOK)
		if again.Text("refresh_token") != first.Text("refresh_token") || again.Text("access_token") != first.Text("access_token") {
			t.Error("other tokens than the first time")
		}
		d.wantCaller(withToken(app, again.Text("access_token"), ""), taker)
	})
}

// withToken is an app with other tokens.
func withToken(app *partnertest.App, access, refresh string) *partnertest.App {
	app.AccessToken, app.RefreshToken = access, refresh
	return app
}

// isLive reports whether calls may be made with the app's access token.
func (d departures) isLive(app *partnertest.App) bool {
	_, err := d.OAuth().VerifyAccessToken(d.t.Context(), app.AccessToken)
	if err != nil && !errors.Is(err, identity.ErrInvalidToken) {
		d.t.Fatal(err)
	}
	return err == nil
}
