package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// CON-11: connected businesses with status, scopes and last use.
func TestInstallations_CON11(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(c *console.Config) {
		c.BusinessName = func(_ context.Context, businessID string) (string, error) {
			return map[string]string{"biz_1": "Corner\u202e Bakery"}[businessID], nil
		}
	})
	path, appID := d.newApp(confidentialApp)
	d.connect(appID, "biz_1")
	d.connect(appID, "biz_2")
	d.must(d.oauth.Uninstall(t.Context(), appID, "biz_2", "usr_bob"))
	app, err := d.store.App(t.Context(), appID)
	d.must(err)
	used, err := d.store.Installations(t.Context(), partner.InstallationQuery{AppID: appID, BusinessID: "biz_1"})
	d.must(err)
	at := d.clock.Now().Add(-time.Second)
	d.Calls.Count(analytics.Call{AppID: appID, InstallationID: used[0].ID, BusinessID: "biz_1", At: at, Method: "GET", Status: 200})

	all := d.ann("GET " + path + "/installations").want(http.StatusOK)
	var got []string
	for _, one := range all.data() {
		got = append(got, one["businessId"].(string)+" "+one["status"].(string))
		if diff := cmp.Diff(app.Scopes.Names(), textsOf(one["scopes"])); diff != "" {
			t.Errorf("scopes (-want +got)\n%s", diff)
		}
		if one["installedAt"] == nil {
			t.Errorf("%v has no installedAt", one)
		}
	}
	if diff := cmp.Diff([]string{"biz_1 ACTIVE", "biz_2 UNINSTALLED"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	first, second := all.data()[0], all.data()[1]
	if want := at.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z"); first["lastUsedAt"] != want || second["lastUsedAt"] != nil {
		t.Errorf("last used at %v and %v, want %s and nothing", first["lastUsedAt"], second["lastUsedAt"], want)
	}
	if first["businessName"] != "Corner Bakery" || second["businessName"] != nil { // CON-16, CON-15
		t.Errorf("the names are %v and %v", first["businessName"], second["businessName"])
	}
	page := d.ann("GET " + path + "/installations?limit=1")
	if next := page.text("nextCursor"); next != "biz_1" || len(d.ann("GET "+path+"/installations?after="+next).data()) != 1 {
		t.Errorf("the first page is %s", page.Body)
	}
	d.ann("GET " + path + "/installations?after=" + strings.Repeat("x", 300)).wantInvalid("after must be the nextCursor of a page")
}

func textsOf(list any) (texts []string) {
	for _, one := range list.([]any) {
		texts = append(texts, one.(string))
	}
	return texts
}

// CON-11: the last use of each client secret, by client authentication alone.
func TestSecretUse_CON11(t *testing.T) {
	t.Parallel()
	var d *harness
	d = newHarnessOn(t, testdb.SQLite, oauthserver.Config{SecretUsed: func(useID string, at time.Time) { d.Calls.Use(useID, at) }})
	path, appID := d.newApp(confidentialApp)
	app, err := d.store.App(t.Context(), appID)
	d.must(err)
	second := d.ann("POST " + path + "/secrets").want(http.StatusCreated).text("secret")
	for _, secret := range []string{second, second + "x"} {
		body := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {app.ClientID}, "client_secret": {secret}}
		r := httptest.NewRequest(http.MethodPost, apiOrigin+"/oauth/token", strings.NewReader(body.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		d.oauth.APIHandler().ServeHTTP(httptest.NewRecorder(), r)
	}
	secrets := d.ann("GET " + path + "/secrets").want(http.StatusOK).data()
	if secrets[0]["lastUsedAt"] != nil || secrets[1]["lastUsedAt"] == nil {
		t.Errorf("%v; want a use of the second alone", secrets)
	}
	for _, one := range secrets {
		if strings.Contains(one["prefix"].(string), second) {
			t.Errorf("the list shows a secret")
		}
	}
}

// CON-11: the use of each limit is read without counting a call.
func TestLimitUses_CON11_LIM08(t *testing.T) {
	t.Parallel()
	memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	limits := ratelimit.Limits{PerBusiness: ratelimit.PerMinute(5)}.WithDefaults()
	limits.LimitsFor = func(_ context.Context, call ratelimit.Call) (own ratelimit.CallLimits) {
		if call.Pattern == "POST /invoices" {
			own.PerRoute = ratelimit.PerMinute(2)
		}
		return own
	}
	d := newHarness(t, func(c *console.Config) { c.Limiter, c.Limits = memory, limits })
	path, appID := d.newApp(confidentialApp)
	now := d.clock.Now()
	for i, business := range []string{"biz_1", "biz_1", "biz_2", "biz_1"} {
		call := ratelimit.Call{AppID: appID, BusinessID: business, Pattern: "POST /invoices"}
		if i == 1 {
			call.Pattern = "GET /invoices"
		}
		of, err := limits.For(t.Context(), call)
		d.must(err)
		_, err = memory.Check(t.Context(), now, ratelimit.Request{Counters: of.Counters(&call)})
		d.must(err)
		d.Calls.Count(analytics.Call{AppID: appID, BusinessID: business, At: now, Method: "GET", Route: call.Pattern, Status: 200})
	}
	for query, want := range map[string][]string{
		"":                  {"app <nil> <nil> 4/10000", "token <nil> <nil> 0/600", "business biz_1 <nil> 3/5", "business biz_2 <nil> 1/5"},
		"?businessId=biz_1": {"app <nil> <nil> 4/10000", "token <nil> <nil> 0/600", "business biz_1 <nil> 3/5", "route biz_1 POST /invoices 2/2"},
	} {
		for range 2 { // reading counts nothing
			var got []string
			for _, use := range d.ann("GET " + path + "/limits" + query).want(http.StatusOK).data() {
				got = append(got, fmt.Sprintf("%v %v %v %v/%v", use["name"], use["businessId"], use["route"], use["used"], use["limit"]))
				if use["resetsAt"] == nil {
					t.Errorf("%v has no resetsAt", use)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", query, diff)
			}
		}
	}
	for _, use := range d.ann("GET " + path + "/limits").data() {
		if _, has := use["windowSeconds"]; has {
			t.Errorf("a limit of a minute says so: %v", use)
		}
	}
	// LIM-08: a limit with several windows is there for each.
	several := newHarness(t, func(c *console.Config) {
		c.Limiter, c.Limits = memory, ratelimit.Limits{PerAppAlso: ratelimit.Windows{ratelimit.PerDay(50_000)}, PerBusinessAlso: ratelimit.Windows{ratelimit.PerHour(100), ratelimit.PerDay(500)}}.WithDefaults()
	})
	path, appID = several.newApp(confidentialApp)
	several.Calls.Count(analytics.Call{AppID: appID, BusinessID: "biz_1", At: now, Status: 200})
	var got []string
	for _, use := range several.ann("GET " + path + "/limits").want(http.StatusOK).data() {
		got = append(got, fmt.Sprintf("%v %v in %v", use["name"], use["limit"], use["windowSeconds"]))
	}
	if diff := cmp.Diff([]string{"app 10000 in <nil>", "app 50000 in 86400", "token 600 in <nil>", "business 300 in <nil>", "business 100 in 3600", "business 500 in 86400"}, got); diff != "" {
		t.Errorf("LIM-08 (-want +got)\n%s", diff)
	}
	unread := newHarness(t)
	path, _ = unread.newApp(confidentialApp)
	if uses := unread.ann("GET " + path + "/limits").want(http.StatusOK).data(); len(uses) != 0 {
		t.Errorf("a console without a limiter shows %v", uses)
	}
}
