package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
)

// AN-03: the page lists usage by day and business and leads to both exports of its period.
func TestUsagePage_AN03(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/usage"
	o.get(at).want(http.StatusOK).shows("No calls in this period", "CSV export", "JSON lines export")
	now := o.clock.Now()
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: now, Status: 404, Bytes: 1_234_567})
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "<b>", At: now.AddDate(0, 0, -1), Status: 200, Bytes: 5})
	o.get(at).want(http.StatusOK).shows("biz_1", "2026-09-01", "<b>", "2026-08-31")
	period := "?from=2026-09-01&to=2026-09-01"
	page := o.get(at + period).want(http.StatusOK).lacks("2026-08-31</td>")
	for _, link := range []string{at + ".csv", at + ".jsonl"} {
		if !strings.Contains(page.Body, `href="`+o.prefix+link+"?from=2026-09-01&amp;to=2026-09-01\"") {
			t.Errorf("AN-03: no link to %s of the period", link)
		}
	}
	if got := o.get(at + ".csv" + period).want(http.StatusOK); got.Body != "date,businessId,calls,errors,bytes\n2026-09-01,biz_1,1,1,1234567\n" || got.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("AN-03: %v %q", got.Header, got.Body)
	}
	if got := o.get(at + ".jsonl" + period).want(http.StatusOK); got.Body != `{"date":"2026-09-01","businessId":"biz_1","calls":1,"errors":1,"bytes":1234567}`+"\n" {
		t.Errorf("AN-03: %q", got.Body)
	}
	for range 51 {
		now = now.AddDate(0, 0, -1)
		o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: now, Status: 200})
	}
	next := o.get(at + "?from=2026-01-01").want(http.StatusOK).pageAfter()
	if last := o.get(strings.TrimPrefix(next, o.prefix)).want(http.StatusOK).shows("1,234,567"); !strings.Contains(last.Body, `value="2026-01-01"`) {
		t.Error("AN-03: the last page has lost the period")
	}
	for _, wrong := range []string{"?from=yesterday", "?to=2026-09-31", "?from=2026-09-01&to=2026-08-01", "?from=2020-01-01", "?after=x"} {
		o.get(at + wrong).want(http.StatusBadRequest)
		if !strings.Contains(wrong, "after") {
			o.get(at + ".csv" + wrong).want(http.StatusBadRequest)
		}
	}
	o.get("/apps/app_none/usage.csv").want(http.StatusNotFound)
}
