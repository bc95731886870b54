package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// CON-10: the log lists the last calls, filtered, and holds no secret.
func TestRequests_CON10(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	now := d.clock.Now()
	leaked := ""
	for _, kind := range []secret.Kind{secret.AccessToken, secret.RefreshToken, secret.AuthorizationCode, secret.DeviceCode, secret.ClientSecret, secret.RegistrationToken, secret.ConsoleToken, secret.Session, secret.WebhookSecret} {
		leaked += " " + secret.New(kind).Reveal()
	}
	d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_1", At: now.Add(-2 * time.Second), Took: 1500 * time.Microsecond, Method: "GET", Route: "GET /invoices/{id}", Status: 200})
	d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_2", At: now.Add(-time.Second), Method: "POST", Route: "POST /invoices", Status: 400, RequestID: "request/2", Code: leaked, Error: []byte(`{"message":"` + leaked + `"}`)})
	d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_1", At: now, Method: "GET", Status: 401, HasDeadToken: true, Error: []byte(`{"code":"OLD"}`)})
	at := func(ago time.Duration) string { return now.Add(ago).UTC().Format("2006-01-02T15:04:05.000Z") }
	list := func(query string) []string {
		var routes []string
		for _, one := range d.ann("GET " + path + "/requests?" + query).data() {
			routes = append(routes, one["route"].(string))
		}
		return routes
	}
	for query, want := range map[string][]string{
		"": {"", "POST /invoices", "GET /invoices/{id}"}, "status=4xx": {"", "POST /invoices"}, "status=400": {"POST /invoices"}, "limit=1": {""},
		"route=" + url.QueryEscape("GET /invoices/{id}"): {"GET /invoices/{id}"}, "businessId=biz_2": {"POST /invoices"}, "status=5xx": nil,
		"route=/invoices": nil, "path=/invoices": {"POST /invoices", "GET /invoices/{id}"}, "path=" + url.QueryEscape("/{id}"): {"GET /invoices/{id}"}, "path=GET": nil,
		"requestId=" + url.QueryEscape("request/2"): {"POST /invoices"}, "requestId=request": nil,
		"since=" + at(-time.Second): {"", "POST /invoices"}, "until=" + at(-time.Second): {"GET /invoices/{id}"}, "since=" + at(-2*time.Second) + "&until=" + at(0): {"POST /invoices", "GET /invoices/{id}"},
		"since=" + at(-999*time.Millisecond): {""}, "since=" + at(time.Hour): nil, "until=2000-01-01": nil,
	} {
		if diff := cmp.Diff(want, list(query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	all := d.ann("GET " + path + "/requests")
	for _, one := range strings.Fields(leaked) {
		if strings.Contains(all.Body, one[10:]) {
			t.Errorf("the log holds a %s", one[:6])
		}
	}
	first := all.data()[0]
	if first["code"] != "OLD" || first["error"] != `{"code":"OLD"}` || first["requestId"] != first["id"] || all.data()[2]["durationMs"] != 1.5 {
		t.Errorf("%v", all.data())
	}
	next := d.ann("GET " + path + "/requests?limit=1").text("nextCursor")
	if got := list("after=" + next); len(got) != 2 {
		t.Errorf("after the first: %v", got)
	}
	second := d.ann("GET " + path + "/requests").data()[1]
	for _, requestID := range []string{second["id"].(string), "request%2F2"} {
		if diff := cmp.Diff(second, d.ann("GET "+path+"/requests/"+requestID).want(http.StatusOK).body); diff != "" {
			t.Errorf("%s (-want +got)\n%s", requestID, diff)
		}
	}
	other, _ := d.newApp(confidentialApp)
	for _, absent := range []string{other + "/requests/request%2F2", path + "/requests/request"} {
		d.ann("GET " + absent).want(http.StatusNotFound)
	}
	d.ann("GET "+path+"/requests?since=yesterday&until=2026-13-01&business=biz_1&path=a&path=b").
		wantInvalid(`"business" is not a known parameter`, "path must be given once", "since must be a time in ISO 8601", "until must be a time in ISO 8601")
	d.ann("GET "+path+"/requests?status=4&after=x").wantInvalid("status must be a status such as 404, or a class such as 4xx", "after must be the nextCursor of a page")
	d.clock.Advance(7*24*time.Hour - time.Second + time.Millisecond)
	if got := list(""); len(got) != 1 {
		t.Errorf("a week later: %v", got)
	}
}

// AN-01: by route, status and business; calls with a dead token are not counted.
func TestGroups_AN01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	now := d.clock.Now()
	for range 2 {
		d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_1", At: now, Method: "GET", Route: "GET /invoices", Status: 200})
	}
	d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_2", At: now, Method: "GET", Route: "GET /customers", Status: 429, RateLimited: true})
	d.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_2", At: now, Method: "GET", Route: "GET /customers", Status: 401, HasDeadToken: true})
	for by, keys := range map[string][2]string{"route": {"GET /invoices", "GET /customers"}, "status": {"200", "429"}, "business": {"biz_1", "biz_2"}} {
		got := d.ann("GET " + path + "/analytics?days=2&by=" + by).want(http.StatusOK)
		want := []any{
			map[string]any{"key": keys[0], "calls": 2.0, "errors": 0.0, "rateLimited": 0.0},
			map[string]any{"key": keys[1], "calls": 1.0, "errors": 1.0, "rateLimited": 1.0},
		}
		if diff := cmp.Diff(want, got.body["groups"]); diff != "" {
			t.Errorf("by %s (-want +got)\n%s", by, diff)
		}
	}
	d.ann("GET " + path + "/analytics?by=user").wantInvalid("by must be one of route, status, business")
}
