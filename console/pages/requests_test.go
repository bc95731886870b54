package pages_test

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/partner"
)

// logCalls makes calls of an app: many of one route, and one that failed.
func (o *harness) logCalls(app partner.App, many int) {
	now := o.clock.Now()
	for range many {
		o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: now.Add(-time.Second), Took: 12 * time.Millisecond, Method: "GET", Route: "GET /invoices/{id}", Status: 200})
	}
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_2", At: now, Method: "POST", Route: "POST /invoices", Status: 400, RequestID: "req-7", Error: []byte(`{"code":"VALIDATION_FAILED","message":"<i>"}`)})
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
	first := o.get(at).want(http.StatusOK).shows("POST /invoices", "400 Bad Request", "VALIDATION_FAILED", "<i>", "biz_2", "req-7", "12 ms", "200 OK").lacks("<i>")
	next := first.pageAfter()
	o.get(strings.TrimPrefix(next, o.prefix)).want(http.StatusOK).shows("200 OK").lacks("400 Bad Request")
	for query, count := range map[string]int{
		"?path=%2Finvoices": 50, "?path=%7Bid%7D": 50, "?path=POST": 0, "?requestId=req-7": 1, "?requestId=req": 0, "?status=&route=&path=+": 50,
		"?since=2026-09-01T12:00:00": 1, "?since=2026-09-01+11:59": 50, "?until=2026-09-01T12:00": 50, "?since=2026-09-01T11:59:59.001Z": 1, "?until=2026-09-01": 0,
		"?status=4xx": 1, "?status=200": 50, "?route=POST+%2Finvoices": 1, "?businessId=biz_2": 1, "?status=5xx": 0, "?status=4xx&businessId=biz_1": 0,
	} {
		page := o.get(at + query).want(http.StatusOK)
		if got := strings.Count(page.Body, `<span class="method">`); got != count {
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
	o.get(at+"?since=soon&until=2026-09-01&business=biz_2").want(http.StatusBadRequest).
		shows(`"business" is not a known parameter`, "Since must be a date and a time in UTC, such as 2026-09-01 12:00").lacks("200 OK")
	o.get(at + "?status=200&status=400").want(http.StatusBadRequest).shows("Status must be given once")
}

// CON-10: a call has a page of its own, which is found by the id of the request too.
func TestRequestPage_CON10(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/requests"
	o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Method: "GET", Status: 403, RequestID: "a/b?c", Error: []byte("<b>\u202e</b>\x00\x1b")})
	o.logCalls(app, 1)
	for _, path := range o.get(at).values("href") {
		if strings.HasPrefix(path, o.prefix+at+"/") {
			o.get(strings.TrimPrefix(path, o.prefix)).want(http.StatusOK)
		}
	}
	o.get(at+"/req-7").want(http.StatusOK).shows("POST /invoices", "400 Bad Request", "VALIDATION_FAILED", `"message": "<i>"`, "biz_2", "req-7", "0 ms").lacks("<i>")
	for _, path := range []string{at, at + "/a%2Fb%3Fc"} {
		o.get(path).want(http.StatusOK).shows("no such endpoint", `<b>\u202e</b>`+"\ufffd"+`\x1b`).lacks("<b>", "\u202e", "\x1b")
	}
	other := o.newApp()
	for _, absent := range []string{at + "/req-8", "/apps/" + other.ID + "/requests/req-7"} {
		o.get(absent).want(http.StatusNotFound)
	}
}

// CON-10: the page of a call that failed says what to do about it, and has an address to share.
func TestRequestAdvice_CON10(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/requests"
	for id, c := range map[string]struct {
		call analytics.Call
		want string
		path string // of the link
	}{
		"lacks":   {analytics.Call{Route: "GET /customers", Status: 403, Error: []byte(`{"code":"INSUFFICIENT_SCOPE","params":{"p0":"customers:read"}}`)}, "The call needs customers:read. Add the scope", "/settings"},
		"granted": {analytics.Call{Route: "GET /invoices", Status: 403, Error: []byte(`{"code":"INSUFFICIENT_SCOPE","params":{"p0":"invoices:read"}}`)}, "ask for invoices:read. See what each business granted", "/installations"},
		"person":  {analytics.Call{Route: "POST /x", Status: 403, Error: []byte(`{"code":"PERMISSION_REQUIRED","params":{"p0":"accounts.manage"}}`)}, "The call needs accounts.manage.", ""},
		"path":    {analytics.Call{Status: 404}, "Check the method and the path", ""},
		"record":  {analytics.Call{Route: "GET /invoices/{id}", Status: 404}, "no record with the id", ""},
		"token":   {analytics.Call{Route: "GET /invoices", Status: 401, HasDeadToken: true}, "Refresh it", "/installations"},
		"many":    {analytics.Call{Route: "GET /invoices", Status: 429, RateLimited: true}, "Retry-After", "/limits"},
		"invalid": {analytics.Call{Route: "POST /invoices", Status: 400, Error: []byte(`[]`)}, "Correct what the message", ""},
		"raced":   {analytics.Call{Route: "POST /invoices", Status: 409}, "Something else was first", ""},
		"failed":  {analytics.Call{Route: "GET /invoices", Status: 503}, "name the request id failed.", ""},
		"other":   {analytics.Call{Route: "GET /invoices", Status: 403}, "says why the call was refused", ""},
	} {
		c.call.AppID, c.call.RequestID, c.call.At, c.call.Method, c.call.BusinessID = app.ID, id, o.clock.Now(), "GET", "biz_1"
		o.Calls.Count(c.call)
		page := o.get(at+"/"+id).want(http.StatusOK).shows("What to do", c.want)
		if c.path != "" && !slices.Contains(page.values("href"), o.prefix+"/apps/"+app.ID+c.path) {
			t.Errorf("%s does not lead to %s", id, c.path)
		}
		link := page.values("data-copy")
		if i := slices.IndexFunc(link, func(text string) bool { return strings.HasPrefix(text, appOrigin+o.prefix+at+"/req_") }); i < 0 {
			t.Errorf("%s has no link to share: %q", id, link)
		} else {
			o.get(strings.TrimPrefix(link[i], appOrigin+o.prefix)).want(http.StatusOK).shows(c.want)
		}
	}
	o.Calls.Count(analytics.Call{AppID: app.ID, RequestID: "fine", At: o.clock.Now(), Method: "GET", Route: "GET /invoices", Status: 200})
	o.get(at + "/fine").want(http.StatusOK).lacks("What to do")
}
