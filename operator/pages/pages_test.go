package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestFigures(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Connect(partnertest.ConnectOptions{})
	h.submitted("sync-one")
	page := h.page(olga, "GET /operator", nil).Want(http.StatusOK)
	for figure, want := range map[string]string{
		`<a href="/operator/apps?status=ACTIVE">Active apps</a>`: "2", `<a href="/operator/apps?status=SUSPENDED">Suspended apps</a>`: "0", `<a href="/operator/apps">Installations</a>`: "1",
		`<a href="/operator/reviews">Reviews to do</a>`: "1", "Failing webhooks": "0", "Calls": "0", "p95 latency": "–",
	} {
		sees(t, page, "<dt>"+figure+"</dt><dd>"+want+"</dd>")
	}
	sees(t, page, "Olga", "No webhook is failing.", "Waiting for review", "App of sync-one")

	app := h.newApp("Busy")
	for i := range 40 {
		h.Analytics().Count(analytics.Call{AppID: app, At: h.Clock.Now(), Status: map[bool]int{true: 500, false: 200}[i < 10], Took: 80 * time.Millisecond})
	}
	h.page(olga, "GET /operator/apps/"+app, nil).Want(http.StatusOK) // its counts are written
	page = h.page(olga, "GET /operator", nil).Want(http.StatusOK)
	sees(t, page, `<dt>Errors</dt><dd>10</dd><dd class="trend">25.0 %</dd>`, "40 calls, 30 succeeded, 0 rate-limited, 10 other errors", "p50 75 ms, p95 97 ms")
}

func TestApps(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.newApp("Sync <b>one</b>")
	h.newApp("Other")
	sees(t, h.page(olga, "GET /operator/apps", nil).Want(http.StatusOK), "Other", "Sync <b>one</b>")
	found := h.page(olga, "GET /operator/apps?query=sync&status=ACTIVE", nil).Want(http.StatusOK)
	sees(t, found, "/operator/apps/"+app, `value="sync"`, `<option value="ACTIVE" selected>`)
	lacks(t, found, "Other</a>")
	sees(t, h.page(olga, "GET /operator/apps?status=SUSPENDED", nil).Want(http.StatusOK), "No apps found")
	sees(t, h.page(olga, "GET /operator/apps?status=PAUSED", nil).Want(http.StatusBadRequest), "status must be ACTIVE, SUSPENDED or DEACTIVATED")
	sees(t, h.page(olga, "GET /operator/apps?after=nope", nil).Want(http.StatusBadRequest), "after must be the nextCursor of a page")
	h.page(olga, "GET /operator/apps?query=%00", nil).Want(http.StatusBadRequest)
	h.page(olga, "GET /operator/apps/app_none", nil).Want(http.StatusNotFound)
}

// OPS-05: the pages of support find people and organizations, show what an app did, and end an
// installation.
func TestSupport_OPS05(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	h.Receiver(app, "app.uninstalled")
	sees(t, h.page(olga, "GET /operator/people", nil).Want(http.StatusOK), "Search people")
	sees(t, h.page(olga, "GET /operator/people?query=usr_oth", nil).Want(http.StatusOK), "Nobody found", "/operator/users/usr_oth")
	sees(t, h.page(olga, "GET /operator/people?query=usr_ot", nil).Want(http.StatusOK), "/operator/users/usr_otto", "Otto")
	sees(t, h.page(olga, "GET /operator/organizations/org_ledgerlink", nil).Want(http.StatusOK), "<h1>Ledgerlink</h1>")
	sees(t, h.page(olga, "GET /operator/organizations/org_none", nil).Want(http.StatusOK), "No app belongs to this organization.")
	path := "/operator/apps/" + app.ID
	sees(t, h.page(olga, "GET "+path, nil).Want(http.StatusOK), path+"/deliveries", path+"/requests")
	end := path + "/installations/" + partnertest.Business + "/uninstall"
	sees(t, h.page(olga, "POST "+end, url.Values{"reason": {""}}).Want(http.StatusBadRequest), "reason is required")
	sees(t, h.done(olga, end, url.Values{"reason": {"Left us"}}), "The installation was ended.", "No business has connected the app.", "Left us")
	h.Advance(0)
	sees(t, h.page(olga, "GET "+path+"/deliveries", nil).Want(http.StatusOK), "app.uninstalled", partnertest.Business)
	h.page(olga, "GET "+path+"/deliveries?after=nope", nil).Want(http.StatusBadRequest)
	h.page(olga, "GET "+path+"/requests", nil).Want(http.StatusOK)
	h.page(olga, "GET /operator/apps/app_none/requests", nil).Want(http.StatusNotFound)
}

// A list of more than a page leads on, with its filter.
func TestAppsPager(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for i := range 51 {
		h.newApp(fmt.Sprintf("Sync %02d", i))
		h.Clock.Advance(time.Millisecond) // apps are listed by the time of their creation
	}
	page := h.page(olga, "GET /operator/apps?query=sync", nil).Want(http.StatusOK)
	sees(t, page, "Sync 50")
	lacks(t, page, "Sync 00")
	next := regexp.MustCompile(`href="(/operator/apps\?after=[^"]*query=sync)"`).FindStringSubmatch(strings.ReplaceAll(page.Body, "&amp;", "&"))
	if next == nil {
		t.Fatalf("no next page: %s", main(page.Body))
	}
	page = h.page(olga, "GET "+next[1], nil).Want(http.StatusOK)
	sees(t, page, "Sync 00", `href="/operator/apps?query=sync"`)
	lacks(t, page, "Sync 50")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	path := "/operator/apps/" + app.ID
	sees(t, h.page(olga, "GET "+path, nil).Want(http.StatusOK), partnertest.Business, app.ClientID, "Suspend the app", "Deactivate the app", `href="/operator/audit?appId=`+app.ID+`"`)
	sees(t, h.page(olga, "POST "+path+"/status", url.Values{"status": {"SUSPENDED"}}).Want(http.StatusBadRequest), "reason is required")

	page := h.done(olga, path+"/status", url.Values{"status": {"SUSPENDED"}, "reason": {"Too many errors.\r\nPlease call."}})
	sees(t, page, "The app was suspended.", "Too many errors.\nPlease call.", "Reactivate the app", "App suspended", olga)
	lacks(t, page, "Suspend the app")
	if got := h.api(ada, "GET /developer/apps/"+app.ID, "").Text("statusReason"); got != "Too many errors.\nPlease call." {
		t.Errorf("OPS-01 the developer sees the reason %q", got)
	}
	sees(t, h.page(ada, "GET /developer/apps/"+app.ID, nil).Want(http.StatusOK), "Too many errors.\nPlease call.")

	sees(t, h.done(olga, path+"/status", url.Values{"status": {"ACTIVE"}, "reason": {"Fixed"}}), "The app was reactivated.", "Fixed")
	page = h.done(olga, path+"/status", url.Values{"status": {"DEACTIVATED"}, "reason": {"Fraud"}})
	sees(t, page, "The app was deactivated.", "This app is deactivated, which is final.")
	lacks(t, page, "Reactivate the app")
	sees(t, h.page(otto, "POST "+path+"/status", url.Values{"status": {"ACTIVE"}, "reason": {"Sorry"}}).Want(http.StatusConflict), "is deactivated, which is final")
	sees(t, h.page(ada, "GET /developer/apps/"+app.ID, nil).Want(http.StatusOK), "Fraud")
}

// OPS-02: one operator takes a revision and decides; the other one reads who was first.
func TestReviews(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	sees(t, h.page(olga, "GET /operator/reviews", nil).Want(http.StatusOK), "Nothing to review")
	app := h.submitted("sync-one")
	listing := "/operator/reviews/" + app
	step := func(state, note string) url.Values { return url.Values{"state": {state}, "note": {note}} }
	sees(t, h.page(olga, "GET /operator/reviews", nil).Want(http.StatusOK), listing, "Submitted", "none yet")
	page := h.page(olga, "GET "+listing, nil).Want(http.StatusOK)
	sees(t, page, "What was submitted", "Start review", "sync-one")
	lacks(t, page, "Changed</span>")
	sees(t, h.page(olga, "POST "+listing, step("approved", "Fine")).Want(http.StatusBadRequest), "Start review")

	sees(t, h.done(olga, listing, step("in_review", "")), "You are now reviewing it.", "Request changes")
	sees(t, h.page(otto, "GET /operator/reviews", nil).Want(http.StatusOK), "Olga")
	page = h.page(otto, "GET "+listing, nil).Want(http.StatusOK)
	sees(t, page, "Olga has taken this review and decides about it.")
	lacks(t, page, "Approve</button>")
	sees(t, h.page(otto, "POST "+listing, step("in_review", "")).Want(http.StatusConflict), "Olga has taken this revision")
	sees(t, h.page(otto, "POST "+listing, step("rejected", "No")).Want(http.StatusConflict), "Olga has taken this revision")

	sees(t, h.done(olga, listing, step("changes_requested", "Say\r\nmore")), "The developers were asked for changes.", "Say\nmore")
	sees(t, h.page(ada, "GET /developer/apps/"+app+"/listing", nil).Want(http.StatusOK), "Say\nmore", "Changes requested")
	h.api(ada, "PUT /developer/apps/"+app+"/listing", `{"slug": "sync-one", "name": "Sync", "summary": "Syncs books", "description": "All of it."}`).Want(http.StatusOK)
	h.api(ada, "POST /developer/apps/"+app+"/listing/submit", "").Want(http.StatusOK)
	h.done(otto, listing, step("in_review", ""))
	stale := step("approved", "Seen before")
	stale.Set("submitted", "1")
	sees(t, h.page(otto, "POST "+listing, stale).Want(http.StatusBadRequest), "the app was submitted again since you opened this page", "Seen before", "Request changes")
	fresh := step("approved", "Fine now")
	fresh.Set("submitted", regexp.MustCompile(`name="submitted" value="([^"]+)"`).FindStringSubmatch(h.page(otto, "GET "+listing, nil).Want(http.StatusOK).Body)[1])
	sees(t, h.done(otto, listing, fresh), "It was approved, and counts from now on.", "What was submitted beside what was reviewed")

	h.api(ada, "PUT /developer/apps/"+app+"/listing", `{"slug": "sync-one", "name": "Sync", "summary": "Syncs all books", "description": "All of it."}`).Want(http.StatusOK)
	h.api(ada, "POST /developer/apps/"+app+"/listing/submit", "").Want(http.StatusOK)
	page = h.page(otto, "GET "+listing, nil).Want(http.StatusOK)
	sees(t, page, "What was submitted beside what was reviewed", "Syncs books", "Syncs all books", `<strong>Summary</strong> <span class="badge warn">Changed</span>`)
	lacks(t, page, `<strong>Description</strong> <span class="badge warn">`)
	h.done(otto, listing, step("in_review", ""))
	lacks(t, h.page(olga, "GET "+listing, nil).Want(http.StatusOK), "Approve</button>")
	h.done(olga, "/operator/users/usr_otto/status", url.Values{"status": {"SUSPENDED"}, "reason": {"Left"}})
	sees(t, h.page(olga, "GET "+listing, nil).Want(http.StatusOK), "Approve</button>") // a suspended reviewer cannot decide
	h.done(olga, "/operator/users/usr_otto/status", url.Values{"status": {"ACTIVE"}, "reason": {"Back"}})
	sees(t, h.done(otto, listing, step("rejected", "Not true")), "It was rejected.", "Not true")
	h.page(otto, "GET /operator/apps/app_none/listing", nil).Want(http.StatusNotFound)
	h.page(otto, "GET /operator/reviews/app_none", nil).Want(http.StatusNotFound)
}

// AZ-16: an operator sees what was submitted beside what was reviewed, and decides about that.
func TestReviewOfAnApp_AZ16(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{}) // reviewed
	path, change := "/operator/reviews/"+app.ID, "PATCH /developer/apps/"+app.ID
	h.api(ada, change, `{"name": "Other name", "redirectUris": ["https://new.example/cb"], "appUrl": "https://new.example/app"}`).Want(http.StatusOK)
	h.api(ada, "POST /developer/apps/"+app.ID+"/review", "").Want(http.StatusAccepted)
	h.api(ada, change, `{"name": "Later name"}`).Want(http.StatusOK)
	sees(t, h.page(olga, "GET /operator/reviews", nil).Want(http.StatusOK), path, "Later name", "without")
	page := h.page(olga, "GET "+path, nil).Want(http.StatusOK)
	sees(t, page, "What was submitted beside what was reviewed", "Test app", "Other name", "https://new.example/cb", "https://new.example/app", `<strong>Redirect URIs</strong> <span class="badge warn">Changed</span>`)
	sees(t, page, "3 changed", `<strong>Connect Other name?</strong>`, "People return to <strong>new.example</strong>.", "See your invoices")
	lacks(t, page, `<div class="written">Later name</div>`, `<strong>Scopes</strong> <span`, "Summary")
	first := regexp.MustCompile(`name="submitted" value="([^"]+)"`).FindStringSubmatch(page.Body)[1]
	h.done(olga, path, url.Values{"state": {"in_review"}, "submitted": {first}})
	sees(t, h.page(otto, "POST "+path, url.Values{"state": {"approved"}}).Want(http.StatusConflict), "Olga has taken")
	sees(t, h.done(olga, path, url.Values{"state": {"rejected"}, "note": {"Which name?"}}), "It was rejected.", "Which name?")
	sees(t, h.page(ada, "GET /developer/apps/"+app.ID+"/review", nil).Want(http.StatusOK), "Which name?", "Rejected", "Submit for review")

	h.api(ada, "POST /developer/apps/"+app.ID+"/review", "").Want(http.StatusAccepted)
	sees(t, h.page(olga, "POST "+path, url.Values{"state": {"in_review"}, "submitted": {first}}).Want(http.StatusBadRequest), "was submitted again since you opened this page")
	h.done(otto, path, url.Values{"state": {"in_review"}})
	sees(t, h.done(otto, path, url.Values{"state": {"approved"}}), "It was approved, and counts from now on.")
	sees(t, h.page(olga, "GET /operator/apps/"+app.ID, nil).Want(http.StatusOK), "Yes: any business can connect", path)
	sees(t, h.page(olga, "GET /operator/reviews", nil).Want(http.StatusOK), "Nothing to review")
}

// OPS-01: an operator sees how much of its limits an app uses.
func TestAppLimits(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	for range 3 {
		app.Get("/nowhere")
	}
	sees(t, h.page(olga, "GET /operator/apps/"+app.ID, nil).Want(http.StatusOK), "Calls for all businesses", "3 of 10000", "Token requests")
	if got := h.api(olga, "GET /operator/apps/"+app.ID, "").Want(http.StatusOK); !strings.Contains(got.Body, `{"name":"app","limit":10000,"used":3,"resetsAt":"2026-09-01T12:`) {
		t.Errorf("OPS-01 limits %s", got)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const path = "/operator/trusted-documents"
	sees(t, h.page(olga, "GET "+path, nil).Want(http.StatusOK), "No host is trusted.")
	sees(t, h.page(olga, "POST "+path, url.Values{"host": {"a b"}, "reason": {"Known"}}).Want(http.StatusBadRequest), "host must be a host", `value="a b"`, "Known")
	page := h.done(olga, path, url.Values{"host": {"agent.example"}, "reason": {"Known"}})
	sees(t, page, "count as reviewed now", "agent.example")
	sees(t, h.page(otto, "POST "+path, url.Values{"host": {"agent.example"}}).Want(http.StatusConflict), "trusted already")
	sees(t, h.page(otto, "POST "+path, url.Values{"host": {" https://Agent.example:443/ "}}).Want(http.StatusConflict), "trusted already") // CIMD-04
	remove := regexp.MustCompile(`action="(/operator/trusted-documents/tdh_[^"]*/delete)"`).FindStringSubmatch(page.Body)
	if remove == nil {
		t.Fatalf("no form to remove it: %s", main(page.Body))
	}
	sees(t, h.done(olga, remove[1], nil), "No host is trusted.")
	h.page(olga, "POST "+remove[1], nil).Want(http.StatusNotFound)
}

func TestUsers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	path := "/operator/users/" + ada
	if got := h.page(olga, "GET /operator/users?id="+ada, nil).Want(http.StatusSeeOther).Header.Get("Location"); got != path {
		t.Errorf("leads to %s", got)
	}
	h.page(olga, "GET /operator/users", nil).Want(http.StatusSeeOther)
	sees(t, h.page(olga, "GET "+path, nil).Want(http.StatusOK), "Ada", `<option value="ACTIVE" selected>`, "Erase the user")
	sees(t, h.page(olga, "POST "+path+"/status", url.Values{"status": {"RESTRICTED"}}).Want(http.StatusBadRequest), "reason is required", `<option value="RESTRICTED" selected>`)
	sees(t, h.done(olga, path+"/status", url.Values{"status": {"RESTRICTED"}, "reason": {"Asked for it"}}), "The status of the user was changed.", "Restricted")
	self := h.page(olga, "GET /operator/users/usr_olga", nil).Want(http.StatusOK)
	sees(t, self, "You cannot change your own status")
	lacks(t, self, "Erase the user")

	sees(t, h.page(olga, "POST "+path+"/erase", url.Values{"confirm": {"usr_other"}}).Want(http.StatusBadRequest), "must be entered to confirm")
	if _, ok, err := h.Host.User(t.Context(), ada); !ok || err != nil {
		t.Fatal("OPS-04 the user is gone without a confirmation")
	}
	done := h.page(olga, "POST "+path+"/erase", url.Values{"confirm": {ada}, "erase_reason": {"A request"}}).Want(http.StatusOK)
	sees(t, done, "was erased", "<dt>Consents ended</dt><dd>1</dd>", "<dt>Token families ended</dt><dd>1</dd>")
	gone := h.page(olga, "GET "+path, nil).Want(http.StatusNotFound)
	sees(t, gone, "There is no user with this id.", "Erase the user")
	lacks(t, gone, "Set status")
	sees(t, h.page(olga, "POST "+path+"/erase", url.Values{"confirm": {ada}}).Want(http.StatusOK), "<dt>Consents ended</dt><dd>0</dd>") // OPS-04 it can be repeated
	log := h.page(olga, "GET /operator/audit?appId="+app.ID, nil).Want(http.StatusOK)
	lacks(t, log, ada)
}

func TestAudit(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first, second := h.newApp("First"), h.newApp("Second")
	h.done(olga, "/operator/apps/"+first+"/status", url.Values{"status": {"SUSPENDED"}, "reason": {"Errors <all>"}})
	all := h.page(otto, "GET /operator/audit", nil).Want(http.StatusOK)
	sees(t, all, `list="actions"`, `<option value="listing.approved">Listing approved</option>`, "App created", "App suspended", "Errors <all>", first, second, `href="/operator/audit/export"`)
	some := h.page(otto, "GET /operator/audit?action=app.suspended&actor=usr_olga&since=&until=", nil).Want(http.StatusOK)
	sees(t, some, "App suspended", `href="/operator/audit/export?action=app.suspended&actor=usr_olga"`)
	lacks(t, some, "<td>App created")
	today := h.Clock.Now().UTC().Format("2006-01-02")
	sees(t, h.page(otto, "GET /operator/audit?since="+today+"&until="+today, nil).Want(http.StatusOK), "App suspended", `value="`+today+`"`)
	sees(t, h.page(otto, "GET /operator/audit?until=2026-01-01", nil).Want(http.StatusOK), "No entries found")
	sees(t, h.page(otto, "GET /operator/audit?since=yesterday", nil).Want(http.StatusBadRequest), "since must be a time")

	export := h.page(otto, "GET /operator/audit/export?action=app.suspended", nil).Want(http.StatusOK)
	var entry struct{ Action, AppID, Reason, UserID string }
	if err := json.Unmarshal([]byte(export.Body), &entry); err != nil || entry.Action != "app.suspended" || entry.AppID != first || entry.Reason != "Errors <all>" || entry.UserID != olga {
		t.Errorf("OPS-01 export %q: %v", export.Body, err)
	}
	if kind, as := export.Header.Get("Content-Type"), export.Header.Get("Content-Disposition"); kind != "application/jsonl" || !strings.HasPrefix(as, "attachment") {
		t.Errorf("OPS-01 export as %q, %q", kind, as)
	}
}
