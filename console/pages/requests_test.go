package pages_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// logCalls makes calls of an app: many of one route, and one that failed.
func (o *harness) logCalls(app oauthserver.App, many int) {
	now := o.clock.Now()
	for range many {
		o.calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: now.Add(-time.Second), Took: 12 * time.Millisecond, Method: "GET", Route: "GET /invoices/{id}", Status: 200})
	}
	o.calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_2", At: now, Method: "POST", Route: "POST /invoices", Status: 400, RequestID: "req-7", Error: []byte(`{"code":"VALIDATION_FAILED","message":"<i>"}`)})
}

// pageAfter is the address of the next page.
func (a response) pageAfter() string {
	a.o.Helper()
	found := regexp.MustCompile(`href="([^"]*)">Older<`).FindStringSubmatch(a.Body)
	if found == nil {
		a.o.Fatalf("%s: no next page", a.Request)
	}
	return html.UnescapeString(found[1])
}

// CON-10: the log is listed and filtered by status, route and business, page by page.
func TestRequestsPage_CON10(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/requests"
	o.get(at).want(http.StatusOK).shows("No calls in the last 7 days")
	o.logCalls(app, 51)
	first := o.get(at).want(http.StatusOK).shows("POST /invoices", "400 Bad Request", "VALIDATION_FAILED", `"message":"<i>"`, "biz_2", "req-7", "12 ms", "200 OK").lacks("<i>")
	next := first.pageAfter()
	o.get(strings.TrimPrefix(next, o.prefix)).want(http.StatusOK).shows("200 OK").lacks("400 Bad Request")
	for query, count := range map[string]int{
		"?status=4xx": 1, "?status=200": 50, "?route=POST+%2Finvoices": 1, "?business=biz_2": 1, "?status=5xx": 0, "?status=4xx&business=biz_1": 0,
	} {
		page := o.get(at + query).want(http.StatusOK)
		if got := strings.Count(page.Body, `data-label="Call"`); got != count {
			t.Errorf("%s lists %d calls, want %d", query, got, count)
		}
	}
	if filtered := o.get(at + "?status=200").pageAfter(); !strings.Contains(filtered, "status=200") {
		t.Errorf("the next page is %q, without the filter", filtered)
	}
	o.get(at+"?status=5xx").shows("No such calls", "Show all")
	wrong := o.get(at + "?status=abc").want(http.StatusBadRequest).shows("Status must be a status such as 404, or a class such as 4xx")
	if !strings.Contains(wrong.Body, `value="abc"`) || !strings.Contains(wrong.Body, "autofocus") {
		t.Error("the filter is not shown again with the focus on the status")
	}
	o.get(at + "?route=%00").want(http.StatusBadRequest)
}
