package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
)

// CON-07: who did what, in words. Of customers it is not told who it was.
func TestAuditLog_CON07(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	app := o.newApp()
	o.later()
	o.post("/apps/"+app.ID+"/secrets", "name", "x")
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audit.ConsentAllowed, Target: "biz_1"})
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audit.DeviceDenied})
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audit.Uninstalled, Target: hostile})
	o.later().record(audit.Entry{AppID: app.ID, Action: audit.ListingChangesRequested})
	o.later().record(audit.Entry{AppID: app.ID, Action: hostile})
	o.get("/apps/"+app.ID+"/audit").want(http.StatusOK).lacks("usr_customer", "<script>alert").shows(
		hostile,
		"Changes to the listing requested somebody else the app 1 Sep 2026, 12:00:05 UTC",
		"A business uninstalled the app somebody else "+hostile+" 1 Sep 2026, 12:00:04 UTC",
		"A person denied access on a device somebody else the app",
		"A person allowed access somebody else biz_1",
		"Client secret created usr_ann",
		"App created usr_ann the app 1 Sep 2026, 12:00:00 UTC",
	)
	o.refuses(app, []string{"/audit"}, nil)
}

// record puts an entry into the log, past the console.
func (o *office) record(e audit.Entry) {
	o.Helper()
	e.At = o.clock.Now()
	e.ID = id.New(id.Audit, e.At)
	o.must(o.store.RecordAudit(o.Context(), e))
}

// CON-07: a long log has pages, which leave nothing out and show nothing twice.
func TestAuditPages_CON07(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	app := o.newApp()
	const entries = 2*console.DefaultLimit + 3
	for range entries - 1 {
		o.later().record(audit.Entry{AppID: app.ID, Action: audit.AccessRevoked, Target: "biz_" + o.clock.Now().Format("150405")})
	}
	seen := map[string]bool{}
	path, pages := "/apps/"+app.ID+"/audit", 0
	for next := path; next != ""; pages++ {
		page := o.get(next).want(http.StatusOK)
		for _, row := range strings.Split(page.body, "<tr>")[2:] {
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
		if isFirst := pages == 0; strings.Contains(page.body, "To the newest") == isFirst {
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
