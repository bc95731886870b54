package events_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
)

// CAT-01: 45 events, with their audiences and gates.
func TestDefaultCatalog(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"app ":                    {"app.installed", "app.uninstalled", "app.scopes_updated", "business.redact", "app_data.updated"},
		"privacy customers:read":  {"customer.redact"},
		"privacy suppliers:read":  {"supplier.redact"},
		"business invoices:read":  {"invoice.created", "invoice.updated", "invoice.sent", "invoice.viewed", "invoice.paid", "invoice.partially_paid", "invoice.overdue", "invoice.voided", "invoice.deleted", "credit_note.created", "credit_note.applied", "credit_note.voided", "estimate.created", "estimate.accepted", "estimate.declined"},
		"business customers:read": {"customer.created", "customer.updated", "customer.deleted"},
		"business payments:read":  {"payment.received", "payment.updated", "payment.refunded", "payment.deleted", "bank_transaction.imported", "bank_transaction.reconciled"},
		"business suppliers:read": {"supplier.created", "supplier.updated", "supplier.deleted", "bill.created", "bill.updated", "bill.paid", "bill.voided"},
		"business accounts:read":  {"account.created", "account.updated", "account.archived", "tax_rate.updated", "period.closed"},
		"business journal:read":   {"journal_entry.posted", "journal_entry.reversed"},
	}
	got, scopes := map[string][]string{}, identity.DefaultScopes()
	all := events.DefaultCatalog().All()
	for _, d := range all {
		got[string(d.Audience)+" "+d.Scope] = append(got[string(d.Audience)+" "+d.Scope], d.Name)
		if _, ok := scopes.Lookup(d.Scope); !ok && d.Scope != "" {
			t.Errorf("%s: there is no scope %s", d.Name, d.Scope)
		}
		if d.Description == "" || strings.HasSuffix(d.Description, ".") {
			t.Errorf("%s: description %q", d.Name, d.Description)
		}
		if found, ok := events.DefaultCatalog().Lookup(d.Name); !ok || found.Description != d.Description {
			t.Errorf("%s is not found", d.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(all) != 45 {
		t.Errorf("%d events (-want +got)\n%s", len(all), diff)
	}
}

// CAT-01: the times of the samples have milliseconds.
func TestTimesOfSamples_CAT01(t *testing.T) {
	t.Parallel()
	for _, d := range events.DefaultCatalog().All() {
		for _, at := range regexp.MustCompile(`"[0-9-]+T[^"]*"`).FindAllString(string(d.Sample), -1) {
			if !regexp.MustCompile(`:[0-9]{2}\.[0-9]{3}Z"$`).MatchString(at) {
				t.Errorf("%s: %s has no milliseconds", d.Name, at)
			}
		}
	}
}

// CAT-01: the samples, and thereby events, have the members that a GET shows.
func TestSamples(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{
		"app.":             "businessId installationId scopes",
		"business.redact":  "id",
		"app_data.updated": "values",
		"customer.redact":  "id",
		"supplier.redact":  "id",
		"invoice.":         "createdAt currency customerId id number status total",
		"customer.c":       "createdAt email id name",
		"supplier.c":       "createdAt email id name",
		"payment.":         "amount createdAt currency id invoiceId",
		"account.":         "code createdAt id name type",
		"journal_entry.":   "createdAt currency date id lines",
	} {
		for _, d := range events.DefaultCatalog().All() {
			if strings.HasPrefix(d.Name, prefix) && strings.Join(members(t, d.Sample), " ") != want {
				t.Errorf("%s: %s, want the members %s", d.Name, d.Sample, want)
			}
		}
	}
	var entry struct {
		Lines []struct{ Debit, Credit int }
	}
	definition, _ := events.DefaultCatalog().Lookup("journal_entry.posted")
	if err := json.Unmarshal(definition.Sample, &entry); err != nil {
		t.Fatal(err)
	}
	balance := 0
	for _, line := range entry.Lines {
		balance += line.Debit - line.Credit
	}
	if balance != 0 || len(entry.Lines) < 2 {
		t.Errorf("the sample of a journal entry does not balance: %s", definition.Sample)
	}
}

// members are the names of an object's members, sorted.
func members(t *testing.T, data []byte) []string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return slices.Sorted(maps.Keys(object))
}

func parcel(change ...func(*events.Definition)) events.Definition {
	d := events.Definition{Name: "parcel.sent", Audience: events.AudienceBusiness, Scope: "parcels:read", Description: "A parcel left", Sample: json.RawMessage(`{}`)}
	for _, c := range change {
		c(&d)
	}
	return d
}

// CAT-01: a host can have its own catalog; the OAuth server's events stay in it.
func TestNewCatalog(t *testing.T) {
	t.Parallel()
	installed := events.Definition{Name: events.AppInstalled, Audience: events.AudienceApp, Description: "Ours", Sample: json.RawMessage(`{"a":1}`)}
	given := []events.Definition{parcel(), installed}
	c, err := events.NewCatalog(given...)
	if err != nil {
		t.Fatal(err)
	}
	given[0].Sample[0], c.All()[0].Name = '[', "other"
	var names []string
	for _, d := range c.All() {
		names = append(names, d.Name)
	}
	want := []string{"parcel.sent", "app.installed", "app.uninstalled", "app.scopes_updated", "business.redact", "app_data.updated"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d, _ := c.Lookup("parcel.sent"); string(d.Sample) != "{}" {
		t.Errorf("the sample has become %s", d.Sample)
	}
	if d, _ := c.Lookup(events.AppInstalled); d.Description != "Ours" {
		t.Errorf("app.installed: %+v", d)
	}
	if _, ok := c.Lookup("invoice.created"); ok {
		t.Error("another catalog's event")
	}
	if _, ok := (events.Catalog{}).Lookup("invoice.created"); ok || len((events.Catalog{}).All()) != 0 {
		t.Error("the zero catalog is not empty")
	}
}

func TestNewCatalogRefuses(t *testing.T) {
	t.Parallel()
	same := func(data json.RawMessage) (json.RawMessage, error) { return data, nil }
	shapes := func(older ...events.Shape) func(*events.Definition) {
		return func(d *events.Definition) { d.Older = older }
	}
	many := make([]events.Definition, 250-4)
	for i := range many {
		many[i] = parcel(func(d *events.Definition) { d.Name = fmt.Sprint("parcel.n", i) })
	}
	const entry = `event catalog: entry 1, "parcel.sent": `
	for want, definitions := range map[string][]events.Definition{
		"event catalog: parcel.sent is listed twice":                                                       {parcel(), parcel()},
		"event catalog: more than 250 definitions":                                                         many,
		entry + "it has no description":                                                                    {parcel(func(d *events.Definition) { d.Description = " " })},
		entry + "it needs one scope that gates it":                                                         {parcel(func(d *events.Definition) { d.Scope = "" })},
		entry + "the sample is not a JSON object":                                                          {parcel(func(d *events.Definition) { d.Sample = json.RawMessage(`[]`) })},
		entry + `unknown audience "everybody"`:                                                             {parcel(func(d *events.Definition) { d.Audience = "everybody" })},
		entry + "an event of an app's own has no scope":                                                    {parcel(func(d *events.Definition) { d.Audience = events.AudienceApp })},
		entry + `the older shape before "soon": that is not a date such as 2026-09-01`:                     {parcel(shapes(events.Shape{Before: "soon", Down: same}))},
		entry + "the older shape before 2026-01-01 has no Down":                                            {parcel(shapes(events.Shape{Before: "2026-01-01"}))},
		entry + "the older shapes must come newest first":                                                  {parcel(shapes(events.Shape{Before: "2026-01-01", Down: same}, events.Shape{Before: "2026-02-01", Down: same}))},
		entry + "the older shape before 2026-01-01, of the sample: oh":                                     {parcel(shapes(events.Shape{Before: "2026-01-01", Down: func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("oh") }}))},
		entry + "the older shape before 2026-01-01 makes no JSON object of the sample":                     {parcel(shapes(events.Shape{Before: "2026-01-01", Down: func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage("1"), nil }}))},
		"event catalog: app.installed is recorded for one app alone and cannot have the audience business": {parcel(func(d *events.Definition) { d.Name = events.AppInstalled })},
	} {
		if _, err := events.NewCatalog(definitions...); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	for _, sample := range []string{"", "null", "{", "{} {}", `"{}"`} {
		if _, err := events.NewCatalog(parcel(func(d *events.Definition) { d.Sample = json.RawMessage(sample) })); err == nil {
			t.Errorf("the sample %q is taken", sample)
		}
	}
	for _, scope := range []string{"a b", " a", `a"`} {
		if _, err := events.NewCatalog(parcel(func(d *events.Definition) { d.Scope = scope })); err == nil {
			t.Errorf("the scope %q is taken", scope)
		}
	}
	for _, name := range []string{"", "parcel", "Parcel.sent", "parcel.", ".sent", "parcel..sent", "parcel sent.x", "parcel.sent,x", "1.2", "parcel.ü", "a." + strings.Repeat("b", 100)} {
		_, err := events.NewCatalog(parcel(func(d *events.Definition) { d.Name = name }))
		if err == nil || !strings.HasSuffix(err.Error(), "the name must be lower-case words with dots between them, at most 100 characters") {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if _, err := events.NewCatalog(many[1:]...); err != nil {
		t.Errorf("250 definitions: %v", err)
	}
}

// CAT-02: both gates for business and privacy, none but ownership for an app's own.
func TestCheckSubscription(t *testing.T) {
	t.Parallel()
	with, without := identity.MustScopes("parcels:read"), identity.MustScopes("other:read")
	business, privacy := parcel(), parcel(func(d *events.Definition) { d.Audience = events.AudiencePrivacy })
	own := parcel(func(d *events.Definition) { d.Audience, d.Scope = events.AudienceApp, "" })
	both := events.Viewer{AppID: "app_1", AppScopes: with, IsInstalled: true, InstallationScopes: with}
	change := func(f func(*events.Viewer)) events.Viewer {
		v := both
		f(&v)
		return v
	}
	noApp := change(func(v *events.Viewer) { v.AppScopes = without })
	noInstallation := change(func(v *events.Viewer) { v.InstallationScopes = without })
	notInstalled := change(func(v *events.Viewer) { v.IsInstalled = false })
	for _, d := range []events.Definition{business, privacy} {
		if !d.IsVisible("", both) {
			t.Errorf("%s before %+v: not visible", d.Audience, both)
		}
		for _, viewer := range []events.Viewer{noApp, noInstallation, notInstalled} {
			if d.IsVisible("", viewer) {
				t.Errorf("%s before %+v: visible", d.Audience, viewer)
			}
		}
	}
	for _, v := range []events.Viewer{both, noApp, noInstallation, notInstalled} {
		for appID, want := range map[string]bool{"app_1": true, "app_2": false, "": false} {
			if got := own.IsVisible(appID, v); got != want {
				t.Errorf("of %q before %+v: %v, want %v", appID, v, got, want)
			}
		}
	}
	if business.IsVisible("app_2", both) {
		t.Error("a business's event that is for another app alone is visible")
	}
}

func TestDataIn(t *testing.T) {
	t.Parallel()
	note := func(text string) func(json.RawMessage) (json.RawMessage, error) {
		return func(data json.RawMessage) (json.RawMessage, error) { return append(data, text...), nil }
	}
	broken := errors.New("oh")
	d := events.Definition{Name: "a.b", Older: []events.Shape{
		{Before: "2026-09-01", Down: note("2")}, {Before: "2026-01-15", Down: note("1")},
		{Before: "2020-01-01", Down: func(json.RawMessage) (json.RawMessage, error) { return nil, broken }},
	}}
	for version, want := range map[string]string{"": "", "2027-01-01": "", "2026-09-01": "", "2026-08-31": "2", "2026-01-15": "2", "2026-01-14": "21", "2020-01-01": "21"} {
		if got, err := d.DataIn(version, json.RawMessage{}); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", version, got, err, want)
		}
	}
	if _, err := d.DataIn("2019-12-31", json.RawMessage{}); !errors.Is(err, broken) {
		t.Errorf("a shape that fails: %v", err)
	}
	// DLV-05: nothing else recovers a panic where deliveries are planned.
	d.Older = []events.Shape{{Before: "2026-09-01", Down: func(json.RawMessage) (json.RawMessage, error) { panic("card number") }}}
	if _, err := d.DataIn("2026-01-15", json.RawMessage{}); err == nil || strings.Contains(err.Error(), "card number") {
		t.Errorf("a shape that panics: %v", err)
	}
}
