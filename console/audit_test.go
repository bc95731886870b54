package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// CON-07: the log lists the user, the action and the target, newest first, page by page.
func TestAudit_CON07(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	hook := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated).text("id")
	secretID := d.send(call{what: "POST " + path + "/secrets", by: ben}).want(http.StatusCreated).text("id")
	d.send(call{what: "DELETE " + path + "/secrets/" + secretID, by: ben}).want(http.StatusNoContent)
	d.ann("PATCH "+path+"/webhooks/"+hook, `{"enabled": false}`).want(http.StatusOK)
	d.ann("POST " + path + "/webhooks/" + hook + "/rotate-secret").want(http.StatusOK)
	d.newApp(publicApp) // has a log of its own

	want := []map[string]any{
		{"userId": ann, "action": "webhook.secret_rotated", "target": hook},
		{"userId": ann, "action": "webhook.updated", "target": hook, "detail": "enabled: yes → no"},
		{"userId": ben, "action": "secret.ended", "target": secretID},
		{"userId": ben, "action": "secret.created", "target": secretID},
		{"userId": ann, "action": "webhook.created", "target": hook},
		{"userId": ann, "action": "app.created", "target": nil},
	}
	var got []map[string]any
	query := "?limit=4"
	for range 2 {
		page := d.ann("GET " + path + "/audit" + query)
		for _, entry := range page.data() {
			if _, err := time.Parse(time.RFC3339, entry["createdAt"].(string)); err != nil || !id.Valid(id.Audit, entry["id"].(string)) {
				t.Errorf("entry %v: %v", entry, err)
			}
			delete(entry, "id")
			delete(entry, "createdAt")
			got = append(got, entry)
		}
		if page.body["hasMore"] == true {
			query += "&after=" + page.text("nextCursor")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d.ann("GET " + path + "/audit?limit=0").wantInvalid("limit must be a whole number from 1 to 100")
	d.ann("GET " + path + "/audit?after=aud_1").wantInvalid("after must be the nextCursor of a page")
}

// CON-07: what people decide about an app elsewhere is in its log. Its developers do
// not learn who it was.
func TestActsOfOthers_CON07(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	for _, done := range []struct {
		action audit.Action
		target string
	}{
		{audited.ConsentAllowed, "biz_1"}, {audited.ConsentDenied, ""}, {audited.DeviceAllowed, "biz_2"}, {audited.DeviceDenied, ""},
		{audited.AccessRevoked, "biz_1"}, {audited.Uninstalled, "biz_1"},
	} {
		now := d.clock.Now()
		d.must(d.store.RecordAudit(t.Context(), audit.Entry{
			ID: id.New(id.Audit, now), AppID: appID, UserID: "usr_customer", Action: done.action, Target: done.target, At: now,
		}))
	}
	log := d.ann("GET " + path + "/audit")
	var got []string
	for _, entry := range log.data() {
		got = append(got, fmt.Sprint(entry["action"], " ", entry["target"], " ", entry["userId"]))
	}
	want := []string{
		"app.uninstalled biz_1 <nil>", "access.revoked biz_1 <nil>",
		"device.denied <nil> <nil>", "device.allowed biz_2 <nil>", "consent.denied <nil> <nil>", "consent.allowed biz_1 <nil>",
		"app.created <nil> " + ann,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	kept, err := d.store.Audit(t.Context(), audit.Query{AppID: appID, Limit: 1})
	if err != nil || kept[0].UserID != "usr_customer" {
		t.Errorf("the log does not know who it was: %v, %v", kept, err)
	}
}

// generous is a limiter that refuses nothing.
type generous struct{ ratelimit.Limiter }

func (generous) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

// CON-07: a change and its entry in the audit log commit together: if any statement
// of any write fails, if the client disconnects during it, and if the response to COMMIT is
// lost.
func TestChangeAndEntry_CON07(t *testing.T) {
	t.Parallel()
	for name, open := range testdb.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newHarnessOn(t, open, oauthserver.Config{Options: oauthserver.Options{MaxApps: 1000}}, func(c *console.Config) { c.Limiter = generous{} })
			for _, pattern := range d.console.Patterns() {
				if !isWrite(pattern) {
					continue
				}
				tries := 0
				d.store.EveryFaultAudited(t, func() func(context.Context) bool {
					c := d.callOf(pattern)
					tries++
					c.by, c.body = ann, strings.Replace(c.body, "-save", fmt.Sprint("-save-", tries), 1) // a slug is one app's
					return func(ctx context.Context) bool {
						c.ctx = ctx
						return d.send(c).Status < 300
					}
				})
				if t.Failed() {
					t.Fatal(pattern)
				}
			}
			steps := []consolestore.RevisionState{consolestore.RevisionInReview, consolestore.RevisionApproved}
			for i, step := range steps {
				d.store.EveryFaultAudited(t, func() func(context.Context) bool {
					_, appID, _ := strings.Cut(d.callOf("POST /developer/apps/{appId}/listing/submit").what, "apps/")
					appID, _, _ = strings.Cut(appID, "/")
					d.ann("POST /developer/apps/" + appID + "/listing/submit").want(http.StatusOK)
					d.review(appID, steps[:i]...)
					return func(ctx context.Context) bool {
						_, err := d.console.ReviewListing(ctx, console.Review{AppID: appID, State: step})
						return err == nil
					}
				})
			}
		})
	}
}

// An error of the store at any statement of a write is a 5xx, and leaves no entry for a
// change that was not made. This is the rule of OERR-04 for the console.
func TestFaults_ERR02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	for place, struck := 1, true; struck; place++ {
		before := d.audited()
		d.store.Tap.Arm(testdb.FaultError, place)
		got := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`)
		struck = d.store.Tap.Struck()
		d.store.Tap.Reset()
		status, want := http.StatusInternalServerError, 0
		if !struck {
			status, want = http.StatusCreated, 1
		}
		made := len(d.ann("GET " + path + "/webhooks").data())
		if got.Status != status || made != want || d.audited() != before+want {
			t.Fatalf("a fault at statement %d, which struck: %v: %d %s; %d webhooks, %d entries", place, struck, got.Status, got.Body, made, d.audited()-before)
		}
	}
}
