package events_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
)

// EVT-01: the shape of a page, to the letter.
func TestListShape(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	if got := k.call(token, "/events").Body; got != `{"events":[],"hasMore":false}` {
		t.Errorf("an empty log: %s", got)
	}
	k.Clock.Advance(1500 * time.Millisecond)
	recorded, err := k.log.Record(t.Context(), events.Draft{
		Type: "invoice.created", BusinessID: "biz_1", Data: json.RawMessage("{\n \"name\": \"Mill & Sons <ü>\" }"),
	})
	k.Must(err)
	want := fmt.Sprintf(`{"id":%q,"type":"invoice.created","apiVersion":"2026-09-01","businessId":"biz_1","created":%d,"data":{"name":"Mill & Sons <ü>"}}`,
		recorded[0].ID, harness.Start.Unix()+1)
	if got := k.call(token, "/events").Body; got != `{"events":[`+want+`],"hasMore":false}` {
		t.Errorf("GET /events: %s\nwant %s", got, want)
	}
	if got := k.call(token, "/events/"+recorded[0].ID).Body; got != want {
		t.Errorf("GET /events/:id: %s\nwant %s", got, want)
	}
}

// EVT-01: oldest first, limit 1 to 100, 50 by default; hasMore is exact.
func TestListPages(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	all := k.record("biz_1", slices.Repeat([]string{"invoice.created", "customer.created"}, 51)...)
	for _, test := range []struct {
		query   string
		want    []partner.Event
		hasMore bool
	}{
		{"", all[:50], true},
		{"?limit=1", all[:1], true},
		{"?limit=100", all[:100], true},
		{"?limit=52&after=" + all[49].ID, all[50:], false},
		{"?limit=51&after=" + all[49].ID, all[50:101], true},
		{"?after=" + all[51].ID, all[52:], false},
		{"?after=" + all[101].ID, nil, false},
		{"?limit=2&other=1", all[:2], true},
	} {
		if got := k.call(token, "/events"+test.query).shows(test.want...); got.HasMore != test.hasMore {
			t.Errorf("%q: hasMore %v", test.query, got.HasMore)
		}
	}
}

// EVT-05: a page of large events ends early, and going on from it misses none.
func TestListOfLargeEvents(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	large := events.Draft{Type: "invoice.created", BusinessID: "biz_1", Data: map[string]string{"note": strings.Repeat("n", events.MaxData-20)}}
	all, err := k.log.Record(t.Context(), slices.Repeat([]events.Draft{large}, 40)...)
	k.Must(err)
	first := k.call(token, "/events").shows(all[:17]...) // 16 have 4 MiB, less what their braces take
	if !first.HasMore {
		t.Error("the first page says that it is the last")
	}
	second := k.call(token, "/events?limit=100&after="+all[16].ID).shows(all[17:34]...)
	if third := k.call(token, "/events?limit=100&after="+all[33].ID).shows(all[34:]...); !second.HasMore || third.HasMore {
		t.Errorf("more: %v and %v", second.HasMore, third.HasMore)
	}
}

// EVT-01: types are repeated or separated by commas, in any mixture. One that the
// app may not see is not an error, and shows nothing.
func TestListTypes(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	all := k.record("biz_1", "invoice.created", "invoice.paid", "customer.created", "payment.received")
	for query, want := range map[string][]partner.Event{
		"types=invoice.created":                                              all[:1],
		"types=invoice.created,invoice.paid":                                 all[:2],
		"types=invoice.created&types=invoice.paid":                           all[:2],
		"types=customer.created,invoice.created&types=invoice.paid":          all[:3],
		"types=invoice.created,invoice.created&types=invoice.created":        all[:1],
		"types=payment.received":                                             nil,
		"types=payment.received,customer.created":                            all[2:3],
		"types=invoice.created%2Cinvoice.paid&after=" + all[0].ID:            all[1:2],
		"types=invoice.created&after=" + all[3].ID:                           nil,
		"types=customer.created&limit=1&after=" + url.QueryEscape(all[0].ID): all[2:3],
	} {
		if got := k.call(token, "/events?"+query).shows(want...); got.HasMore {
			t.Errorf("%s: hasMore", query)
		}
	}
}

// EVT-01, EVT-03: what is wrong with a query is said.
func TestListRefuses(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	here := k.record("biz_1", "invoice.created")[0]
	const limit, types = "limit must be given once, a whole number from 1 to 100", "types must be names of events, separated by commas"
	for query, want := range map[string][]any{
		"limit=0":                              {limit},
		"limit=101":                            {limit},
		"types=a" + strings.Repeat(",a", 1000): {"types must have at most 1000 names"}, // ERR-04
		"types=" + strings.Repeat("&types=", 2000): {types},
		"limit=-1":                               {limit},
		"limit=":                                 {limit},
		"limit=ten":                              {limit},
		"limit=1.0":                              {limit},
		"limit=99999999999999999999":             {limit},
		"limit=1&limit=1":                        {limit},
		"types=":                                 {types},
		"types=invoice.created,":                 {types},
		"types=,":                                {types},
		"types=&types=x":                         {types},
		"after=" + here.ID + "&after=" + here.ID: {"after must be given once"},
		"after=a&after=b&limit=0&types=":         {"after must be given once", limit, types},
		"limit=%zz":                              {"the query is not well-formed"},
		"limit=1;types=x":                        {"the query is not well-formed"},
	} {
		if diff := cmp.Diff(any(want), k.call(token, "/events?"+query).refused(http.StatusBadRequest, "")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	for query, names := range map[string]string{
		"types=x":                             "x",
		"types=invoice.created,x,invoice":     "x, invoice",
		"types=Invoice.created&types=y":       "Invoice.created, y",
		"types=invoice.created,+invoice.paid": " invoice.paid",
		"types=x%00":                          "x\x00",
		"types=x&after=unknown":               "x",
		"types=" + strings.Repeat("x", 300):   strings.Repeat("x", 200) + "…",
	} {
		message := k.call(token, "/events?"+query).refused(http.StatusBadRequest, codes.UnknownEventType.Code)
		if message != "types: there is no event named "+names {
			t.Errorf("%s: %q", query, message)
		}
	}
}

// EVT-03: a cursor is an event of the business from the last 30 days, whether the
// app may see it or not.
func TestCursors(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	one, other := k.NewApp(allScopes), k.NewApp(allScopes)
	token := k.Connect(one, "biz_1", identity.MustScopes("events:read", "customers:read"))
	k.Connect(other, "biz_1", allScopes)
	hidden := k.record("biz_1", "invoice.created", "payment.received")
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), other.ID, "biz_1", identity.MustScopes("events:read")))
	own := k.list("biz_1", other.ID, events.AppScopesUpdated)
	shown := k.record("biz_1", "customer.created")
	elsewhere := k.record("biz_2", "customer.created")
	for name, after := range map[string]string{"no scope": hidden[0].ID, "scope of nobody": hidden[1].ID, "of another app": own[0].ID} {
		if got := k.call(token, "/events?after="+after).shows(shown...); got.HasMore {
			t.Errorf("%s: hasMore", name)
		}
	}
	valid := shown[0].ID
	for name, after := range map[string]string{
		"another business's": elsewhere[0].ID, "none": id.New(id.Event, harness.Start), "empty": "", "short": "evt_1", "other kind": id.New(id.App, harness.Start),
		"upper case": strings.ToUpper(valid), "space": valid + " ", "NUL": valid[:10] + "\x00" + valid[11:], "not UTF-8": "\xff", "long": strings.Repeat(valid, 100),
	} {
		t.Log(name)
		k.call(token, "/events?after="+url.QueryEscape(after)).refused(http.StatusBadRequest, codes.UnknownCursor.Code)
	}
}

// EVT-01: an event is shown in the version of the call.
func TestVersions(t *testing.T) {
	t.Parallel()
	rename := func(from, to string) func(json.RawMessage) (json.RawMessage, error) {
		return func(data json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(strings.ReplaceAll(string(data), from, to)), nil
		}
	}
	catalog, err := events.NewCatalog(events.Definition{
		Name: "parcel.sent", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "A parcel left", Sample: json.RawMessage(`{"to":1}`),
		Older: []events.Shape{{Before: "2026-09-01", Down: rename("to", "address")}, {Before: "2026-01-15", Down: rename("address", "street")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := newAPIOn(t, testdb.SQLite, catalog)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	_, err = k.log.Record(t.Context(), events.Draft{Type: "parcel.sent", BusinessID: "biz_1", Data: json.RawMessage(`{"to":2}`)})
	k.Must(err)
	for version, want := range map[string]string{"2026-09-01": `{"to":2}`, "2026-01-15": `{"address":2}`, "2025-06-01": `{"street":2}`} {
		got := k.call(token, "/events", "Service-Version", version).page().Events[0]
		if got.APIVersion != version || string(got.Data) != want {
			t.Errorf("%s: %+v", version, got)
		}
	}
	k.call(token, "/events?types=invoice.created").refused(http.StatusBadRequest, codes.UnknownEventType.Code)
}

// An event whose type was removed from the catalog is no longer shown, but still valid as
// a cursor.
func TestTypeThatLeftTheCatalog(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	gone := partner.Event{ID: id.New(id.Event, harness.Start), Type: "fax.sent", BusinessID: "biz_1", Data: json.RawMessage(`{}`), CreatedAt: harness.Start}
	k.Must(k.Store.RecordEvents(t.Context(), gone))
	here := k.record("biz_1", "invoice.created")
	k.call(token, "/events").shows(here...)
	k.call(token, "/events?after="+gone.ID).shows(here...)
	k.call(token, "/events/"+gone.ID).refused(http.StatusNotFound, codes.EventNotFound.Code)
}
