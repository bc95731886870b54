package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// appEventCases are what the console shows of the events of an app.
var appEventCases = []testCase[partnerkit.Store]{
	// EVT-02: of some businesses, by id, in pages, those of one app beside those of all.
	{"EVT-02 events of several businesses", func(t *testing.T, e partnerkit.Store) {
		businesses := make([]string, 70) // more than one statement reads
		var recorded []partner.Event
		for i := range businesses {
			businesses[i] = newBusiness()
			made := happened(businesses[i], []string{"a.b", "a.c", "app.d", "app.d"}[i%4], 2)
			for j := range made {
				made[j].AppID = []string{"", "", "app_1", "app_2"}[i%4]
			}
			recorded = append(recorded, made...)
			must(t, e.RecordEvents(t.Context(), made...))
		}
		must(t, e.RecordEvents(t.Context(), happened(newBusiness(), "a.b", 1)...))
		q := consolestore.EventQuery{BusinessIDs: businesses, Types: []string{"a.b"}, AppID: "app_1", AppTypes: []string{"app.d"}, Since: noon, Limit: 7}
		if found := get[[]partner.Event](t)(e.AppEvents(t.Context(), q)); len(found) != 0 {
			t.Errorf("%d events without numbers", len(found))
		}
		for _, business := range businesses {
			get[bool](t)(e.NumberEvents(t.Context(), business))
		}
		var want []string
		for _, one := range recorded {
			if one.Type == "a.b" || one.AppID == "app_1" {
				want = append(want, one.ID)
			}
		}
		slices.Sort(want)
		slices.Reverse(want)
		var got []string
		for {
			found := get[[]partner.Event](t)(e.AppEvents(t.Context(), q))
			got = append(got, idsOf(found)...)
			if len(found) < q.Limit {
				break
			}
			q.Before = found[len(found)-1].ID
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		q.Before, q.Since, q.Limit = "", noon.Add(time.Millisecond), 100
		if found := get[[]partner.Event](t)(e.AppEvents(t.Context(), q)); len(found) != len(want)/2 {
			t.Errorf("%d events since a time, want %d", len(found), len(want)/2)
		}
		q.Types, q.AppTypes = nil, nil
		if found := get[[]partner.Event](t)(e.AppEvents(t.Context(), q)); len(found) != 0 {
			t.Errorf("%d events of no type", len(found))
		}
	}},
	// DLV-09: the deliveries of events to webhooks that are there.
	{"DLV-09 deliveries of events", func(t *testing.T, e partnerkit.Store) {
		f, other := newWebhook(t, e), newWebhook(t, e)
		failed, waiting := f.failed(t, noon), f.waiting(t, noon.Add(time.Second))
		ids := []string{failed.EventID, waiting.EventID, other.failed(t, noon).EventID}
		found := get[[]partner.Delivery](t)(e.EventDeliveries(t.Context(), f.app.ID, ids))
		if len(found) != 2 || found[0].ID != waiting.ID || found[0].Status != partner.DeliveryRetrying || found[1].ID != failed.ID || found[1].Status != partner.DeliveryFailed || found[1].EventID != failed.EventID {
			t.Errorf("deliveries: %+v", found)
		}
		if none := get[[]partner.Delivery](t)(e.EventDeliveries(t.Context(), f.app.ID, nil)); len(none) != 0 {
			t.Errorf("deliveries of no event: %v", none)
		}
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
		if gone := get[[]partner.Delivery](t)(e.EventDeliveries(t.Context(), f.app.ID, ids)); len(gone) != 0 {
			t.Errorf("deliveries of a deleted webhook: %v", gone)
		}
	}},
}

// ownerCases are what records belong to.
var ownerCases = []testCase[partnerkit.Store]{
	{"Owners of records", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		d := f.failed(t, noon)
		recorded := happened(f.business, "a.b", 1)[0]
		must(t, e.RecordEvents(t.Context(), recorded))
		installed := get[[]partner.Installation](t)(e.Installations(t.Context(), partner.InstallationQuery{AppID: f.app.ID}))[0]
		for kind, one := range map[id.Kind]struct {
			id   string
			want consolestore.Owner
		}{
			id.Webhook:      {f.webhook.ID, consolestore.Owner{AppID: f.app.ID, WebhookID: f.webhook.ID}},
			id.Delivery:     {d.ID, consolestore.Owner{AppID: f.app.ID, WebhookID: f.webhook.ID, BusinessID: f.business}},
			id.Installation: {installed.ID, consolestore.Owner{AppID: f.app.ID, BusinessID: f.business}},
			id.Event:        {recorded.ID, consolestore.Owner{BusinessID: f.business}},
			id.Request:      {id.New(id.Request, noon), consolestore.Owner{}},
			id.Secret:       {id.New(id.Secret, noon), consolestore.Owner{}},
		} {
			if got := get[consolestore.Owner](t)(e.Owner(t.Context(), one.id)); got != one.want {
				t.Errorf("%s belongs to %+v, want %+v", one.id, got, one.want)
			}
			if none := get[consolestore.Owner](t)(e.Owner(t.Context(), id.New(kind, noon))); none != (consolestore.Owner{}) {
				t.Errorf("%s: a record that does not exist belongs to %+v", kind, none)
			}
		}
	}},
}
