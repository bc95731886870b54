package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/optional"
)

// CON-07: the page describes each action and its user. It does not identify customers.
func TestAuditLog_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.later()
	o.post("/apps/"+app.ID+"/secrets", "name", "x")
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audited.ConsentAllowed, Target: "biz_1"})
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audited.DeviceDenied})
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audited.Uninstalled, Target: hostile})
	o.later().record(audit.Entry{AppID: app.ID, Action: audited.ListingChangesRequested})
	o.later().record(audit.Entry{AppID: app.ID, Action: hostile})
	o.get("/apps/"+app.ID+"/audit").want(http.StatusOK).lacks("usr_customer", "<script>alert").shows(
		hostile,
		"Changes to the listing requested not a developer the app 1 Sep 2026, 12:00:05 UTC",
		"A business uninstalled the app not a developer "+hostile+" 1 Sep 2026, 12:00:04 UTC",
		"A person denied access on a device not a developer the app",
		"A person allowed access not a developer biz_1",
		"Client secret created usr_ann",
		"App created usr_ann the app 1 Sep 2026, 12:00:00 UTC",
	)
	o.refuses(app, []string{"/audit"}, nil)
}

// record puts an entry into the log, past the console.
func (o *harness) record(e audit.Entry) {
	o.Helper()
	e.At = o.clock.Now()
	e.ID = id.New(id.Audit, e.At)
	o.must(o.store.RecordAudit(o.Context(), e))
}

// CON-07: a long log has pages, which leave nothing out and show nothing twice.
func TestAuditPages_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	const entries = 2*console.DefaultLimit + 3
	for range entries - 1 {
		o.later().record(audit.Entry{AppID: app.ID, Action: audited.AccessRevoked, Target: "biz_" + o.clock.Now().Format("150405")})
	}
	seen := map[string]bool{}
	path, pages := "/apps/"+app.ID+"/audit", 0
	for next := path; next != ""; pages++ {
		page := o.get(next).want(http.StatusOK)
		for _, row := range strings.Split(page.Body, "<tr>")[2:] {
			if seen[row] {
				t.Errorf("%s shows twice %s", next, row)
			}
			seen[row] = true
		}
		next = ""
		for _, href := range page.values("href") {
			if strings.HasPrefix(href, o.prefix+path+"?after=") {
				next = strings.TrimPrefix(href, o.prefix)
			}
		}
		if isFirst := pages == 0; strings.Contains(page.Body, "To the newest") == isFirst {
			t.Errorf("page %d leads to the newest: %v", pages, isFirst)
		}
	}
	if len(seen) != entries || pages != 3 {
		t.Errorf("%d entries on %d pages", len(seen), pages)
	}
	for _, after := range []string{"x", "%00", "%FF", "aud_1"} {
		o.get(path + "?after=" + after).want(http.StatusBadRequest)
	}
}

// CON-07: the log shows the old and the new value of a change, and never a secret.
func TestAuditChanges_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook?key=secret-1", "invoice.paid")
	ctx := t.Context()
	by := o.actor(ann)
	_, err := o.console.UpdateApp(ctx, by, app.ID, console.AppChange{Name: optional.Of("Ledger Two")})
	o.must(err)
	_, err = o.console.UpdateWebhook(ctx, by, app.ID, hook.ID, console.WebhookChange{URL: optional.Of("https://partner.example/other?key=secret-2"), Enabled: optional.Of(false)})
	o.must(err)
	_, err = o.console.UpdateWebhook(ctx, by, app.ID, hook.ID, console.WebhookChange{URL: optional.Of("https://partner.example/other?key=secret-3")})
	o.must(err)
	o.later().record(audit.Entry{AppID: app.ID, UserID: ben, ByDeveloper: true, Action: audited.SecretEnded, Target: "sec_1", Token: "nightly"})
	page := o.get("/apps/"+app.ID+"/audit").want(http.StatusOK).shows(
		"Client secret ended Ben Okafor with the token nightly sec_1",
		"App updated name: "+app.Name+" → Ledger Two",
		"url: https://partner.example/hook?… → https://partner.example/other?…; enabled: yes → no",
		"Webhook updated url: another query",
	).lacks("secret-1", "secret-2")
	if !strings.Contains(page.Body, `/webhooks/`+hook.ID+`">https://partner.example/other`) {
		t.Errorf("no link to the webhook:\n%s", page.Body)
	}
}
