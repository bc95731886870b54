package pages_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
)

// rows reads a CSV file.
func (a response) csv() [][]string {
	a.o.Helper()
	rows, err := csv.NewReader(strings.NewReader(a.Body)).ReadAll()
	a.o.must(err)
	return rows
}

// CON-10: an export has all calls that the filter of the page selects, over all pages.
func TestExportRequests_CON10(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	for i := range 130 {
		o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: o.clock.Now().Add(time.Duration(i) * time.Millisecond), Took: 12 * time.Millisecond, Method: "GET", Route: "GET /invoices", Status: 200 + i/120*204})
	}
	o.clock.Advance(time.Minute)
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Method: "GET", Status: 404, RequestID: "=cmd()", Error: []byte(`{"code":"NOT_FOUND"}`)})
	list := "/apps/" + app.ID + "/requests"
	links := o.get(list + "?status=4xx").want(http.StatusOK).values("href")
	for _, want := range []string{o.prefix + list + ".csv?status=4xx", o.prefix + list + ".jsonl?status=4xx"} {
		if !slices.Contains(links, want) {
			t.Errorf("no link to %s in %v", want, links)
		}
	}
	if rows := o.get(list + ".csv").want(http.StatusOK).csv(); len(rows) != 132 || rows[0][0] != "id" {
		t.Errorf("%d rows, the first one %v", len(rows), rows[0])
	}
	filtered := o.get(list + ".csv?status=4xx").want(http.StatusOK).csv()
	if len(filtered) != 12 || filtered[1][6] != "'=cmd()" || filtered[1][5] != "NOT_FOUND" || filtered[1][10] != `{"code":"NOT_FOUND"}` {
		t.Errorf("%d rows: %v", len(filtered), filtered)
	}
	lines := strings.Split(strings.TrimSpace(o.get(list+".jsonl?status=404").want(http.StatusOK).Body), "\n")
	var last struct{ RequestID, Method string }
	if err := json.Unmarshal([]byte(lines[0]), &last); err != nil || len(lines) != 11 || last.RequestID != "=cmd()" || last.Method != "GET" {
		t.Errorf("%d lines, the first one %s, %v", len(lines), lines[0], err)
	}
	o.get(list + ".csv?colour=red").want(http.StatusBadRequest)
	o.refuses(app, []string{"/requests.csv", "/requests.jsonl"}, nil)
}

// CON-07: the audit log can be exported.
func TestExportAudit_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.later().record(audit.Entry{AppID: app.ID, UserID: "usr_customer", Action: audited.ConsentAllowed, Target: "-biz"})
	page := o.get("/apps/" + app.ID + "/audit").want(http.StatusOK)
	if links := page.values("href"); !slices.Contains(links, o.prefix+"/apps/"+app.ID+"/audit.csv") || !slices.Contains(links, o.prefix+"/apps/"+app.ID+"/audit.jsonl") {
		t.Errorf("the links are %v", links)
	}
	rows := o.get("/apps/" + app.ID + "/audit.csv").want(http.StatusOK).lacks("usr_customer").csv()
	if len(rows) != 3 || rows[1][3] != "consent.allowed" || rows[1][4] != "'-biz" || rows[2][2] != ann {
		t.Errorf("the rows are %v", rows)
	}
	if body := o.get("/apps/" + app.ID + "/audit.jsonl").want(http.StatusOK).Body; strings.Count(body, "\n") != 2 {
		t.Errorf("the lines are %s", body)
	}
	o.refuses(app, []string{"/audit.csv"}, nil)
}

// DLV-09: the deliveries that the filter selects can be exported.
func TestExportDeliveries_DLV09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid", "app.installed")
	for range 3 {
		_, err := o.console.SendTest(t.Context(), o.actor(ann), app.ID, hook.ID, "invoice.paid")
		o.must(err)
		o.clock.Advance(time.Millisecond)
	}
	_, err := o.console.SendTest(t.Context(), o.actor(ann), app.ID, hook.ID, "app.installed")
	o.must(err)
	list := "/apps/" + app.ID + "/webhooks/" + hook.ID + "/deliveries"
	links := o.get(list + "?event=invoice.paid").want(http.StatusOK).values("href")
	if !slices.Contains(links, o.prefix+list+".csv?event=invoice.paid") {
		t.Errorf("the links are %v", links)
	}
	if rows := o.get(list + ".csv?event=invoice.paid").want(http.StatusOK).csv(); len(rows) != 4 || rows[1][2] != "invoice.paid" || rows[1][6] != "queued" {
		t.Errorf("the rows are %v", rows)
	}
	if body := o.get(list + ".jsonl").want(http.StatusOK).Body; strings.Count(body, "\n") != 4 {
		t.Errorf("the lines are %s", body)
	}
	o.get(list + ".csv?event=x").want(http.StatusBadRequest)
	o.get("/apps/" + app.ID + "/webhooks/whk_none/deliveries.csv").want(http.StatusNotFound)
	o.refuses(app, []string{"/webhooks/" + hook.ID + "/deliveries.csv"}, nil)
}
