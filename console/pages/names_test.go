package pages_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
)

// CON-16: pages name the businesses that have connected the app, beside their ids; a business
// that has not is not named to its developers.
func TestBusinessNames_CON16(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.businesses = map[string]string{"biz_1": "Corner <Bakery>", "biz_2": "Secret Mill"}
	app := o.newApp()
	o.connect(app, "biz_1")
	at := "/apps/" + app.ID
	for _, business := range []string{"biz_1", "biz_2"} {
		o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: business, At: o.clock.Now(), Method: "GET", Route: "GET /invoices", Status: 200, RequestID: "req-" + business})
	}
	for _, path := range []string{at + "/requests", at + "/requests/req-biz_1", at + "/installations", at + "/limits?business=biz_1"} {
		page := o.get(path).want(http.StatusOK).shows("Corner <Bakery>").lacks("Secret Mill", "<Bakery>")
		if !slices.Contains(page.values("data-copy"), "biz_1") {
			t.Errorf("%s: no button copies the id", path)
		}
	}
	o.get(at + "/limits?business=biz_2").want(http.StatusOK).shows("biz_2").lacks("Secret Mill")
	names, err := o.console.BusinessNames(t.Context(), o.actor(ann), app.ID, "biz_1", "biz_2", "biz_1", "", "biz_3")
	o.must(err)
	if len(names) != 1 || names["biz_1"] != "Corner <Bakery>" {
		t.Errorf("the names are %q", names)
	}
}
