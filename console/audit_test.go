package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// CON-07: the log tells who did what to what, newest first, page by page.
func TestAudit_CON07(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path, _ := d.newApp(confidentialApp)
	hook := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated).text("id")
	secretID := d.send(call{what: "POST " + path + "/secrets", by: ben}).want(http.StatusCreated).text("id")
	d.send(call{what: "DELETE " + path + "/secrets/" + secretID, by: ben}).want(http.StatusNoContent)
	d.ann("PATCH "+path+"/webhooks/"+hook, `{"enabled": false}`).want(http.StatusOK)
	d.ann("POST " + path + "/webhooks/" + hook + "/rotate-secret").want(http.StatusOK)
	d.newApp(publicApp) // has a log of its own

	want := []map[string]any{
		{"userId": ann, "action": "webhook.secret_rotated", "target": hook},
		{"userId": ann, "action": "webhook.updated", "target": hook},
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
	d := newDesk(t)
	path, appID := d.newApp(confidentialApp)
	for _, decision := range []oauthserver.Decision{
		{BusinessID: "biz_1", Allowed: true}, {}, {BusinessID: "biz_2", Allowed: true, OnDevice: true}, {OnDevice: true},
	} {
		decision.AppID, decision.UserID = appID, "usr_customer"
		d.console.RecordDecision(t.Context(), decision)
	}
	for _, action := range []string{console.ActionAccessRevoked, console.ActionUninstalled} {
		d.console.RecordAct(t.Context(), console.AuditEntry{AppID: appID, UserID: "usr_customer", ByDeveloper: true, Action: action, Target: "biz_1"})
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
	kept, err := d.store.Audit(t.Context(), appID, "", 1)
	if err != nil || kept[0].UserID != "usr_customer" {
		t.Errorf("the log does not know who it was: %v, %v", kept, err)
	}
}

// CON-07: an entry is written though the person has left; one that cannot be written
// is in the operator's log, and what was done stays done.
func TestLostAuditEntry_CON07(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, appID := d.newApp(confidentialApp)
	gone, leave := context.WithCancel(t.Context())
	leave()
	d.console.RecordAct(gone, console.AuditEntry{AppID: appID, UserID: "usr_customer", Action: console.ActionUninstalled})
	if kept, err := d.store.Audit(t.Context(), appID, "", 1); err != nil || kept[0].Action != console.ActionUninstalled {
		t.Errorf("%v, %v", kept, err)
	}
	d.store.Tap.Arm(storetest.FaultError, 1)
	d.console.RecordAct(t.Context(), console.AuditEntry{AppID: appID, UserID: "usr_customer", Action: console.ActionAccessRevoked})
	d.store.Tap.Reset()
	if log := d.logged.String(); !strings.Contains(log, "audit entry lost") || !strings.Contains(log, console.ActionAccessRevoked) || !strings.Contains(log, appID) {
		t.Errorf("the log says %q", log)
	}
}

// A fault of the store is a 5xx, at every statement of a write, and leaves no entry
// for what did not happen. OERR-04's rule for the console.
func TestFaults_ERR02(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path, _ := d.newApp(confidentialApp)
	done := false
	for place := 1; !done; place++ {
		before := d.audited()
		d.store.Tap.Arm(storetest.FaultError, place)
		got := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`)
		struck := d.store.Tap.Struck()
		d.store.Tap.Reset()
		made := len(d.ann("GET " + path + "/webhooks").data())
		switch {
		case got.status == http.StatusInternalServerError && struck:
			if made != 0 || d.audited() != before {
				t.Errorf("a fault at statement %d left %d webhooks", place, made)
			}
		case got.status == http.StatusCreated && struck: // the entry of the log
			done = true
			if made != 1 || d.audited() != before {
				t.Errorf("a fault at statement %d: %d webhooks, %d entries", place, made, d.audited()-before)
			}
		default:
			t.Fatalf("a fault at statement %d, which struck: %v: %d %s", place, struck, got.status, got.raw)
		}
	}
}

// CON-07: a year of the log is kept.
func TestRunPurges_CON07(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.console.Run(ctx) }()
		for range 250 {
			d.console.RecordAct(t.Context(), console.AuditEntry{AppID: "app_1", UserID: "usr_1", Action: console.ActionUninstalled})
		}
		d.must(d.clock.Advance(console.AuditRetention - time.Hour))
		synctest.Wait()
		if n := d.audited(); n != 250 {
			t.Errorf("%d entries are left before a year is over", n)
		}
		d.console.RecordAct(t.Context(), console.AuditEntry{AppID: "app_1", UserID: "usr_1", Action: console.ActionAccessRevoked})
		time.Sleep(2 * time.Hour) // by itself, without a jump
		synctest.Wait()
		if n := d.audited(); n != 1 {
			t.Errorf("%d entries are left after a year", n)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
}
