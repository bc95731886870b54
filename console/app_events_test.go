package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// happens records an event and returns its id.
func (d *harness) happens(business, name, appID, data string) string {
	d.Helper()
	e := partner.Event{ID: id.New(id.Event, d.clock.Now()), Type: name, BusinessID: business, AppID: appID, Data: []byte(data), CreatedAt: d.clock.Now().Truncate(time.Millisecond)}
	d.must(d.store.RecordEvents(d.Context(), e))
	d.clock.Advance(10 * time.Millisecond)
	return e.ID
}

// idsOf are the ids of a list.
func idsOf(list []map[string]any) []string {
	ids := []string{}
	for _, one := range list {
		ids = append(ids, one["id"].(string))
	}
	return ids
}

// EVT-02: an app's developers see the events that the app can read, in businesses that have
// granted events:read, newest first, and nobody else's.
func TestAppEvents_EVT02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	d.connect(appID, "biz_1")
	d.connect(appID, "biz_2")
	d.connect(appID, "biz_narrow")
	d.must(d.oauth.SetInstallationScopes(t.Context(), appID, "biz_narrow", identity.MustScopes("events:read")))
	d.connect(appID, "biz_blind")
	d.must(d.oauth.SetInstallationScopes(t.Context(), appID, "biz_blind", identity.MustScopes("invoices:read")))
	d.connect(appID, "biz_gone")
	d.clock.Advance(time.Second)
	one := d.happens("biz_1", "invoice.paid", "", `{"n": 1}`)
	two := d.happens("biz_2", "invoice.created", "", `{"n": 2}`)
	three := d.happens("biz_1", "invoice.paid", "", `{"n": 3}`)
	own := d.happens("biz_narrow", "app.scopes_updated", appID, `{}`)
	d.happens("biz_1", "customer.created", "", `{}`)         // the app lacks the scope
	d.happens("biz_narrow", "invoice.paid", "", `{}`)        // the installation lacks it
	d.happens("biz_blind", "invoice.paid", "", `{}`)         // without events:read
	d.happens("biz_gone", "invoice.paid", "", `{}`)          // the app was removed
	d.happens("biz_none", "invoice.paid", "", `{}`)          // never connected
	d.happens("biz_1", "app.uninstalled", "app_other", `{}`) // another app's
	d.must(d.oauth.Uninstall(t.Context(), appID, "biz_gone", "usr_owner"))

	list := func(query string) []map[string]any {
		t.Helper()
		return d.ann("GET " + path + "/events" + query).data()
	}
	found := slices.DeleteFunc(list(""), func(e map[string]any) bool {
		return e["type"] == "app.installed" || e["type"] == "app.scopes_updated" && e["id"] != own
	})
	if diff := cmp.Diff([]string{own, three, two, one}, idsOf(found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if e := found[1]; e["type"] != "invoice.paid" || e["businessId"] != "biz_1" || e["created"].(float64) < 1e9 || !cmp.Equal(e["data"], map[string]any{"n": 3.0}) || len(e["deliveries"].([]any)) != 0 {
		t.Errorf("the event is %v", e)
	}
	for query, want := range map[string][]string{
		"?type=invoice.paid": {three, one}, "?businessId=biz_2&type=invoice.created": {two}, "?businessId=biz_blind": {}, "?businessId=biz_none": {}, "?type=customer.created": {},
		"?type=invoice.paid&after=" + three: {one},
	} {
		if diff := cmp.Diff(want, idsOf(list(query))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	// Events that are read and not visible do not end the list.
	for after, pages := "", 0; ; pages++ {
		page := d.ann("GET " + path + "/events?type=invoice.paid&limit=1&after=" + url.QueryEscape(after)).want(http.StatusOK)
		if want := []string{three, one}[pages]; page.data()[0]["id"] != want || pages == 1 {
			if page.body["hasMore"] != false || page.data()[0]["id"] != want {
				t.Errorf("page %d is %s", pages, page.Body)
			}
			break
		}
		after = page.text("nextCursor")
	}
	d.ann("GET " + path + "/events?type=x").wantInvalid("type must be an event of the catalog")
	d.ann("GET " + path + "/events?after=evt_1").wantInvalid("after must be the nextCursor of a page")
	d.ann("GET " + path + "/events?colour=red").wantInvalid(`"colour" is not a known parameter`)
	d.send(call{what: "GET " + path + "/events", by: eve}).want(http.StatusNotFound)
	d.send(call{what: "GET " + path + "/events"}).want(http.StatusUnauthorized)
	d.clock.Advance(events.Retention)
	if old := list(""); len(old) != 0 {
		t.Errorf("events that are too old: %v", old)
	}
}

// CON-09: a console token cannot read events.
func TestAppEvents_CON09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	token := d.ann("POST /developer/tokens", `{"name": "script"}`).want(http.StatusCreated).text("token")
	d.send(call{what: "GET " + path + "/requests", set: http.Header{"Authorization": {"Bearer " + token}}}).want(http.StatusOK)
	d.send(call{what: "GET " + path + "/events", set: http.Header{"Authorization": {"Bearer " + token}}}).want(http.StatusForbidden)
}

// DLV-09: each event has the deliveries to the webhooks of the app, not those to others.
func TestAppEventDeliveries_DLV09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	_, otherID := d.newApp(publicApp)
	d.connect(appID, "biz_1")
	d.connect(otherID, "biz_1")
	first := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/1", "events": ["invoice.paid"]}`).want(http.StatusCreated).text("id")
	second := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/2", "events": ["invoice.paid"]}`).want(http.StatusCreated).text("id")
	d.ann("POST /developer/apps/"+otherID+"/webhooks", `{"url": "https://partner.example/3", "events": ["invoice.paid"]}`).want(http.StatusCreated)
	d.clock.Advance(time.Second)
	paid := d.happens("biz_1", "invoice.paid", "", `{"n": 1}`)
	d.run()
	for range 2000 { // until the deliveries are planned
		if all := d.ann("GET " + path + "/events?type=invoice.paid").data(); len(all) == 1 && len(all[0]["deliveries"].([]any)) == 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	webhooksOf := func() (all []string) {
		e := d.ann("GET " + path + "/events?type=invoice.paid").data()[0]
		for _, one := range e["deliveries"].([]any) {
			delivery := one.(map[string]any)
			if delivery["status"] == nil || !id.Valid(id.Delivery, delivery["id"].(string)) || e["id"] != paid {
				t.Errorf("a delivery is %v", delivery)
			}
			all = append(all, delivery["webhookId"].(string))
		}
		slices.Sort(all)
		return all
	}
	both := []string{first, second}
	slices.Sort(both) // both have the time of the manual clock
	if diff := cmp.Diff(both, webhooksOf()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d.ann("DELETE " + path + "/webhooks/" + first).want(http.StatusNoContent)
	if diff := cmp.Diff([]string{second}, webhooksOf()); diff != "" {
		t.Errorf("after a webhook was deleted (-want +got)\n%s", diff)
	}
}
