package oauthserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

const takeOverPath = "/settings/apps/take-over"

// leftBehind is an app that a person connected who has left the business since, and the
// browser of another person there.
func leftBehind(t *testing.T, change ...func(*oauthserver.Config)) (*pageEnv, partner.App, *pageBrowser) {
	t.Helper()
	e := newPageEnv(t, change...)
	app := e.app(t)
	e.browser(t).signIn("usr_owner", "biz_bakery").connect(app)
	e.host.RemoveBusiness("usr_owner", "biz_bakery")
	for _, userID := range []string{"usr_admin", "usr_other"} {
		e.host.AddBusiness(userID, oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: true})
	}
	return e, app, e.browser(t).signIn("usr_admin", "biz_bakery")
}

// askTakeOver opens the page to decide on.
func (b *pageBrowser) askTakeOver(app partner.App) shownPage {
	b.t.Helper()
	return b.post(takeOverPath, url.Values{"client_id": {app.ClientID}})
}

// wantHolders checks whose consents to the app are alive.
func (e *pageEnv) wantHolders(t *testing.T, want ...string) {
	t.Helper()
	grants, err := e.Grants(t.Context(), "biz_bakery", "")
	if err != nil {
		t.Fatal(err)
	}
	var holders []string
	for _, g := range grants {
		holders = append(holders, g.UserID)
	}
	if strings.Join(holders, " ") != strings.Join(want, " ") {
		t.Errorf("consents of %v, want %v", holders, want)
	}
}

// INST-06: the page says that somebody has left, and leads to a decision that names the scopes
// and the permissions, in each language.
func TestTakeOverPage_INST06(t *testing.T) {
	t.Parallel()
	asked := ""
	e, app, b := leftBehind(t, func(cfg *oauthserver.Config) {
		cfg.Languages = locale.Languages{Offered: []string{"en", "de"}}
		cfg.LentPermissions = func(_ context.Context, businessID, userID string, scopes identity.Scopes) ([]string, error) {
			asked = businessID + " " + userID + " " + scopes.String()
			return []string{"journal.post", "stars.align"}, nil
		}
	})
	list := b.get("/settings/apps").wantOK()
	list.shows("en", "A person who connected Ledger Sync is no longer a member of Corner Bakery.", "Take over…")
	if !strings.Contains(list.Body, `<form method="post" action="`+takeOverPath+`"><input type="hidden" name="client_id" value="`+app.ClientID+`">`) {
		t.Errorf("no form:\n%s", list.main())
	}
	b.askTakeOver(app).wantOK().shows("en", "Take over Ledger Sync?", "See your invoices invoices:read", "It then acts for you, with your permissions",
		"You lend it these permissions", "Post journal entries journal.post", "stars.align stars.align", "Not now", "Take over", "You are signed in as usr_admin.")
	if asked != "biz_bakery usr_admin invoices:read" {
		t.Errorf("asked for the permissions of %s", asked)
	}
	b.header.Set("Accept-Language", "de")
	b.get("/settings/apps").wantOK().shows("de", "Eine Person, die Ledger Sync verbunden hat, gehört nicht mehr zu Corner Bakery.", "Übernehmen …")
	page := b.askTakeOver(app).wantOK()
	page.shows("de", "Ledger Sync übernehmen?", "Ihre Rechnungen sehen", "Diese Berechtigungen leihen Sie ihr", "Buchungen erfassen", "Jetzt nicht")
	done := b.submit(page, "allow")
	if done.Status != http.StatusSeeOther || done.location != "/settings/apps?done=connection.taken_over" {
		t.Fatalf("%d to %q:\n%s", done.Status, done.location, done.main())
	}
	after := b.get(done.location).wantOK()
	after.shows("de", "Sie haben die Verbindung übernommen.")
	if strings.Contains(after.Body, takeOverPath) {
		t.Errorf("it can be taken over once more:\n%s", after.main())
	}
	e.wantHolders(t, "usr_admin")
}

// INST-06: without a person who has left, for a PUBLIC app, for somebody who may not connect
// apps and for an app that is switched off, the page offers nothing.
func TestNothingToTakeOver_INST06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app, public := e.app(t), e.app(t, func(a *partner.App) { a.Type = partner.Public })
	owner := e.browser(t).signIn("usr_owner", "biz_bakery")
	owner.connect(app)
	owner.connect(public)
	e.host.AddBusiness("usr_admin", oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: true})
	e.host.AddBusiness("usr_guest", oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery"})
	b, guest := e.browser(t).signIn("usr_admin", "biz_bakery"), e.browser(t).signIn("usr_guest", "biz_bakery")
	offers := func(b *pageBrowser) int { return strings.Count(b.get("/settings/apps").wantOK().Body, takeOverPath) }
	if offers(b) != 0 {
		t.Error("a take-over while nobody has left")
	}
	b.askTakeOver(app).wantRefusal(http.StatusConflict, "Nobody who connected this app has left the business")
	e.host.RemoveBusiness("usr_owner", "biz_bakery")
	if offers(b) != 1 || offers(guest) != 0 {
		t.Errorf("%d take-overs, and %d for somebody who may not", offers(b), offers(guest))
	}
	b.askTakeOver(public).wantRefusal(http.StatusConflict, "The connection of this app cannot be taken over")
	guest.askTakeOver(app).wantRefusal(http.StatusForbidden, "You do not have permission to connect apps to this business")
	b.post(takeOverPath, url.Values{}).wantRefusal(http.StatusBadRequest, "invalid_request: client_id is missing")
	b.post(takeOverPath, url.Values{"client_id": {"nobody"}}).wantRefusal(http.StatusNotFound, "client nobody not found")
	other := e.app(t)
	b.askTakeOver(other).wantRefusal(http.StatusNotFound, "client "+other.ClientID+" not found")
	e.setStatus(t, app, partner.AppSuspended)
	if offers(b) != 0 {
		t.Error("a take-over of an app that is suspended")
	}
	b.askTakeOver(app).wantRefusal(http.StatusBadRequest, "Invalid client_id")
	if page := e.browser(t).askTakeOver(app); page.Status != http.StatusSeeOther || page.location != "/login?return_to=%2Fsettings%2Fapps" {
		t.Errorf("signed out: %d to %s", page.Status, page.location)
	}
	e.wantHolders(t, "usr_owner", "usr_owner")
}

// INST-06, AZ-12, AZ-14: a decision is taken once, by the person, in the browser and for the
// business that the page was shown to, within its time.
func TestTakeOverDecision_AZ14(t *testing.T) {
	t.Parallel()
	closed := "invalid_request: authorization request not found or expired"
	t.Run("INST-06 once", func(t *testing.T) {
		t.Parallel()
		e, app, b := leftBehind(t)
		page := b.askTakeOver(app).wantOK()
		if done := b.submit(page, "deny"); done.Status != http.StatusSeeOther || done.location != "/settings/apps" {
			t.Errorf("%d to %q", done.Status, done.location)
		}
		b.submit(page, "allow").wantRefusal(http.StatusBadRequest, closed)
		e.wantHolders(t, "usr_owner")
		page = b.askTakeOver(app).wantOK()
		second := b.askTakeOver(app).wantOK()
		b.submit(page, "allow")
		b.submit(page, "allow").wantRefusal(http.StatusBadRequest, closed)
		b.submit(page, "deny").wantRefusal(http.StatusBadRequest, closed)
		b.submit(second, "allow").wantRefusal(http.StatusConflict, "Nobody who connected this app has left the business")
		e.wantHolders(t, "usr_admin")
	})
	t.Run("INST-06 with the page's own fields", func(t *testing.T) {
		t.Parallel()
		e, app, b := leftBehind(t)
		page := b.askTakeOver(app).wantOK()
		b.submit(page, "allow", withoutParams("csrf_token")).wantRefusal(http.StatusBadRequest, "invalid_request: csrf_token is missing")
		b.submit(page, "allow", withParam("csrf_token", "x")).wantRefusal(http.StatusBadRequest,
			"invalid_request: csrf_token is not valid for this session; open the page again and decide there")
		b.submit(page, "allow", withoutParams("request_id")).wantRefusal(http.StatusBadRequest, closed)
		b.submit(page, "perhaps").wantRefusal(http.StatusBadRequest, "invalid_request: decision must be allow or deny")
		// The request of an app is no request to take over, and the other way round.
		_, asked := b.ask(app).wantOK().form()
		b.submit(page, "allow", withParam("request_id", asked.Get("request_id"))).wantRefusal(http.StatusBadRequest, closed)
		_, form := page.form()
		form.Set("decision", "allow")
		form.Set("business_id", "biz_bakery")
		b.post("/oauth/authorize", form).wantRefusal(http.StatusBadRequest, notFoundOrExpired)
		b.get("/oauth/authorize?request_id="+form.Get("request_id")).wantRefusal(http.StatusBadRequest, notFoundOrExpired)
		foreign := e.browser(t).signIn("usr_admin", "biz_bakery")
		foreign.submit(page, "allow").wantRefusal(http.StatusBadRequest, closed)
		b.signIn("usr_other", "biz_bakery").submit(page, "allow").wantRefusal(http.StatusBadRequest,
			"invalid_request: csrf_token is not valid for this session; open the page again and decide there")
		b.header.Set("Origin", "https://evil.example")
		b.submit(page, "allow").wantRefusal(http.StatusForbidden, "This form was sent from another site")
		e.wantHolders(t, "usr_owner")
	})
	t.Run("INST-06 within five minutes", func(t *testing.T) {
		t.Parallel()
		e, app, b := leftBehind(t)
		page := b.askTakeOver(app).wantOK()
		e.clock.Advance(5 * time.Minute)
		b.submit(page, "allow").wantRefusal(http.StatusBadRequest, closed)
		e.wantHolders(t, "usr_owner")
	})
	t.Run("INST-06 what has changed since the page", func(t *testing.T) {
		t.Parallel()
		e, app, b := leftBehind(t)
		join := func(userID string, mayConnect bool) { //nolint:revive // the value, not a switch
			e.host.AddBusiness(userID, oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: mayConnect})
		}
		page := b.askTakeOver(app).wantOK()

		e.host.AddBusiness("usr_admin", oauthserver.Business{ID: "biz_bikes", Name: "Harbour Bikes", MayConnect: true})
		e.host.ChangeSession(b.session, func(s *identity.Session) { s.BusinessID = "biz_bikes" })
		b.submit(page, "allow").wantRefusal(http.StatusBadRequest, "invalid_request: business_id is not the business that you are signed into now; nothing was taken over")
		e.host.ChangeSession(b.session, func(s *identity.Session) { s.BusinessID = "biz_bakery" })

		join("usr_admin", false)
		b.submit(page, "allow").wantRefusal(http.StatusForbidden, "You do not have permission to connect apps to this business")
		join("usr_admin", true)

		join("usr_owner", true)
		b.submit(page, "allow").wantRefusal(http.StatusConflict, "Nobody who connected this app has left the business")
		back := e.browser(t).signIn("usr_owner", "biz_bakery")
		back.submit(back.ask(app, withParam("scope", "customers:read")).wantOK(), "allow").wantCallback(pageCallback)
		e.host.RemoveBusiness("usr_owner", "biz_bakery")
		b.submit(page, "allow").wantRefusal(http.StatusConflict, "The app can do more now than the page showed; nothing was taken over")

		e.setStatus(t, app, partner.AppSuspended)
		b.submit(page, "allow").wantRefusal(http.StatusBadRequest, "Invalid client_id")
		e.setStatus(t, app, partner.AppActive)
		e.wantHolders(t, "usr_owner")
		// Less than the page showed is no reason to ask again.
		if _, err := e.SetInstallationScopes(t.Context(), app.ID, "biz_bakery", identity.MustScopes("invoices:read"), unrecorded); err != nil {
			t.Fatal(err)
		}
		if done := b.submit(page, "allow"); done.Status != http.StatusSeeOther {
			t.Errorf("%d:\n%s", done.Status, done.main())
		}
		e.wantHolders(t, "usr_admin")
	})
	t.Run("INST-06 an app that was disconnected meanwhile", func(t *testing.T) {
		t.Parallel()
		e, app, b := leftBehind(t)
		page := b.askTakeOver(app).wantOK()
		if err := e.server.Uninstall(t.Context(), app.ID, "biz_bakery", ""); err != nil {
			t.Fatal(err)
		}
		b.submit(page, "allow").wantRefusal(http.StatusConflict, "Nobody who connected this app has left the business")
	})
}

func unrecorded(partner.Installation, partner.Installation) []partner.Event { return nil }

// INST-06: of many people who take a connection over at the same time, one does.
func TestTakeOverConcurrently_INST06(t *testing.T) {
	t.Parallel()
	e, app, _ := leftBehind(t)
	const people = 32
	var pages [people]shownPage
	var browsers [people]*pageBrowser
	for i := range people {
		browsers[i] = e.browser(t).signIn("usr_admin", "biz_bakery")
		pages[i] = browsers[i].askTakeOver(app).wantOK()
	}
	var statuses [people]int
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() { statuses[i] = browsers[i].submit(pages[i], "allow").Status })
	}
	all.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[http.StatusSeeOther] != 1 || count[http.StatusConflict] != people-1 {
		t.Errorf("statuses %v", count)
	}
	e.wantHolders(t, "usr_admin")
	entries, err := e.Audit(t.Context(), audit.Query{AppID: app.ID, Action: audited.ConnectionTakenOver, Limit: people})
	if err != nil || len(entries) != 1 {
		t.Errorf("%d audit entries, %v", len(entries), err)
	}
}

// INST-06, ERR-02: an internal error of the host is a 5xx and changes nothing.
func TestTakeOverHostFails_INST06(t *testing.T) {
	t.Parallel()
	var failing error
	e, app, b := leftBehind(t, func(cfg *oauthserver.Config) {
		cfg.LentPermissions = func(context.Context, string, string, identity.Scopes) ([]string, error) { return nil, failing }
	})
	page := b.askTakeOver(app).wantOK()
	failing = errors.New("no permissions")
	e.wantFault(t, b.askTakeOver(app), http.StatusInternalServerError, "no permissions")
	e.host.SetError(errors.New("no members"))
	for _, got := range []shownPage{b.get("/settings/apps"), b.askTakeOver(app), b.submit(page, "allow")} {
		e.wantFault(t, got, http.StatusInternalServerError, "no members")
	}
	e.host.SetError(nil)
	e.wantHolders(t, "usr_owner")
	if done := b.submit(page, "allow"); done.Status != http.StatusSeeOther {
		t.Errorf("afterwards: %d\n%s", done.Status, done.main())
	}
	e.wantHolders(t, "usr_admin")
}
