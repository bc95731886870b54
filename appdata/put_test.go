package appdata_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
)

// APD-02: the shape of a PUT and of a GET, to the letter; an upsert.
func TestPutShape(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	p.declare(p.app, `{"resourceType":"customer","key":"rate","type":"NUMBER"}`)
	if got := p.list("resourceId=inv_1").Body; got != `{"data":[]}` {
		t.Errorf("nothing: %s", got)
	}
	first := p.put(on("inv_1", "note", `"Mill & Sons <ü>"`), `{"resourceType":"customer","resourceId":"cus_1","key":"rate","value": 1.50 }`)
	values := first.values()
	want := fmt.Sprintf(`{"id":%q,"resourceType":"invoice","resourceId":"inv_1","key":"note","value":"Mill & Sons <ü>","createdAt":"2026-09-01T12:00:00.000Z","updatedAt":"2026-09-01T12:00:00.000Z"},`+
		`{"id":%q,"resourceType":"customer","resourceId":"cus_1","key":"rate","value":1.50,"createdAt":"2026-09-01T12:00:00.000Z","updatedAt":"2026-09-01T12:00:00.000Z"}`, values[0].ID, values[1].ID)
	if first.Body != `{"values":[`+want+`]}` {
		t.Errorf("PUT: %s\nwant %s", first.Body, want)
	}
	if got := p.list("resourceIds=cus_1,inv_1").Body; got != `{"data":[`+want+`]}` {
		t.Errorf("GET: %s\nwant %s", got, want)
	}
	for _, v := range values {
		if !id.Valid(id.AppDataValue, v.ID) {
			t.Errorf("id %s", v.ID)
		}
	}

	p.Clock.Advance(1500 * time.Millisecond)
	later := harness.Start.Add(1500 * time.Millisecond)
	again := p.put(`{"resourceType":"customer","resourceId":"cus_1","key":"rate","value":1.50}`, on("inv_1", "note", `"new"`)).values()
	same, changed := values[1], values[0]
	changed.Value, changed.UpdatedAt = []byte(`"new"`), later
	if diff := cmp.Diff([]valuestore.Value{same, changed}, again); diff != "" {
		t.Errorf("again (-want +got)\n%s", diff)
	}
}

// APD-08: the app receives an event with the values that changed and no others.
func TestPutTellsWhatChanged(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	p, other := k.connected(), k.connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	first := p.put(on("inv_1", "note", `"a"`), on("inv_2", "note", `"b"`))
	p.Clock.Advance(time.Second)
	second := p.put(on("inv_1", "note", `"a"`), on("inv_2", "note", `"c"`)).values()
	p.Clock.Advance(time.Second)
	p.put(on("inv_1", "note", `"\u0061"`), on("inv_2", "note", `"c"`)).values() // the same text
	p.Clock.Advance(time.Second)
	p.put(on("inv_1", "note", `"x"`), on("absent", "note", `"x"`)).refused(http.StatusNotFound, codes.RecordNotFound.Code)
	if a := p.call("DELETE /app-data/"+second[1].ID, ""); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("DELETE: %d %q", a.Status, a.Body)
	}
	want := []string{
		first.Body,
		fmt.Sprintf(`{"values":[{"id":%q,"resourceType":"invoice","resourceId":"inv_2","key":"note","value":"c","createdAt":"2026-09-01T12:00:00.000Z","updatedAt":"2026-09-01T12:00:01.000Z"}]}`, second[1].ID),
		fmt.Sprintf(`{"deleted":[{"id":%q,"resourceType":"invoice","resourceId":"inv_2","key":"note"}]}`, second[1].ID),
	}
	if diff := cmp.Diff(want, p.told()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if told := other.told(); len(told) != 0 {
		t.Errorf("another app was told %v", told)
	}
}

// APD-02: what is wrong with the form is said, all of it, and has no code.
func TestPutForm(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	const types = "must be one of account, customer, invoice, journal_entry, payment, supplier"
	many := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = on(fmt.Sprintf("inv_%d", i), "note", `"x"`)
		}
		return `{"values":[` + strings.Join(all, ",") + `]}`
	}
	one := func(member string) string { return `{"values":[{` + member + `}]}` }
	for body, want := range map[string][]string{
		`{}`:                     {"values must have 1 to 25 entries"},
		`{"values":null}`:        {"values must have 1 to 25 entries"},
		`{"values":[]}`:          {"values must have 1 to 25 entries"},
		many(26):                 {"values must have 1 to 25 entries"},
		many(9_000):              {"values must have 1 to 25 entries"}, // ERR-04
		`{"values":{}}`:          {"values must be an array"},
		`{"values":[1]}`:         {"values[0] must be an object"},
		`{"values":[null]}`:      {"values[0] must be an object"},
		`[]`:                     {"the body must be an object"},
		`{"values":[],"more":1}`: {"more is not a known member", "values must have 1 to 25 entries"},
		`{"Values":[]}`:          {"Values is not a known member", "values must have 1 to 25 entries"},
		one(``):                  {"values[0].resourceType " + types, "values[0].resourceId must have 1 to 256 characters", "values[0].key must not be empty", "values[0].value is missing"},
		one(`"resourceType":"Invoice","resourceId":"","key":"","value":null`): {
			"values[0].resourceType " + types, "values[0].resourceId must have 1 to 256 characters", "values[0].key must not be empty", "values[0].value must not be null; DELETE takes a value away"},
		one(`"resourceType":null,"resourceId":1,"key":true,"value":1`): {"values[0].resourceType must be a string", "values[0].resourceId must be a string", "values[0].key must be a string"},
		one(`"resourceType":5`):                                     {"values[0].resourceType must be a string", "values[0].resourceId must have 1 to 256 characters", "values[0].key must not be empty", "values[0].value is missing"}, // ERR-06
		`{"values":[` + on("inv_1", "note", "null") + `]}`:          {"values[0].value must not be null; DELETE takes a value away"},
		`{"values":[` + on("inv_1", "note", `"a\u0000"`) + `]}`:     {"values[0].value has a NUL character"},
		`{"values":[` + on("inv_1", "note", `"\ud800"`) + `]}`:      {"values[0].value has half of a surrogate pair"},
		`{"values":[` + on("inv_1", "note", `{"a":1,"a":2}`) + `]}`: {"values[0].value.a is given more than once"},
		`{"values":[` + on(strings.Repeat("ü", 257), "note", `"x"`) + `]}`: {
			"values[0].resourceId must have 1 to 256 characters"},
		`{"values":[` + on("inv_1", "note", `"`+strings.Repeat("x", 4095)+`"`) + `]}`: {
			"values[0].value has more than 4096 bytes of JSON"},
		`{"values":[` + on("inv_1", "note", `[`+strings.Repeat(" ", 9000)+strings.Repeat("12345,", 700)+`1]`) + `]}`: {
			"values[0].value has more than 4096 bytes of JSON"},
		`{"values":[` + on("inv_1", "note", `"a"`) + "," + on("inv_2", "note", `"a"`) + "," + on("inv_1", "note", `"b"`) + `]}`: {
			"values[2] is the same as values[0]: resourceType, resourceId and key"},
		`{"values":[` + on("inv_1", "note", `"a"`) + "," + on("inv_1", "note", `"a"`) + "," + on("inv_1", "note", `null`) + `]}`: {
			"values[1] is the same as values[0]: resourceType, resourceId and key",
			"values[2].value must not be null; DELETE takes a value away", "values[2] is the same as values[0]: resourceType, resourceId and key"},
	} {
		p.call("PUT /app-data", body).invalid(want...)
	}
	p.call("PUT /app-data", many(1), "Content-Type", "text/plain").refused(http.StatusUnsupportedMediaType, "")
	p.call("PUT /app-data", `{"values":[`+strings.Repeat(" ", 1<<20)+`]}`).refused(http.StatusRequestEntityTooLarge, "")
	if told := p.told(); len(told) != 0 {
		t.Errorf("told %v", told)
	}
	for name, value := range map[string]string{
		"the largest":                           `"` + strings.Repeat("x", 4094) + `"`,
		"escapes that are not needed":           `"` + strings.Repeat(`\u0078`, 4094) + `"`,
		"the largest in other characters":       `"` + strings.Repeat("ü", 2047) + `"`,
		"escapes of what needs none in our way": `"` + strings.Repeat(`\/`, 2047) + `"`,
	} {
		if a := p.put(on("inv_1", "note", value)); a.Status != http.StatusOK {
			t.Errorf("%s: %d %.200s", name, a.Status, a.Body)
		}
	}
	if n := len(p.call("PUT /app-data", many(25)).values()); n != 25 {
		t.Errorf("%d values", n)
	}
	p.put(on(strings.Repeat("ü", 256), "note", `"x"`)).values()
}

// APD-04: the checks run in the order validation, access, field, value, record. The error
// is that of the first check that fails for any value.
func TestPutOrder(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	p := connected{k, app, k.Connect(app, "biz_1", identity.MustScopes("invoices:read"))}
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT","maxLength":3}`)
	p.declare(p.app, `{"resourceType":"customer","key":"note","type":"TEXT"}`)
	const (
		record = `{"resourceType":"invoice","resourceId":"absent_1","key":"note","value":"x"}`
		value  = `{"resourceType":"invoice","resourceId":"absent","key":"note","value":"long"}`
		field  = `{"resourceType":"invoice","resourceId":"absent","key":"none","value":"long"}`
		access = `{"resourceType":"customer","resourceId":"absent","key":"none","value":1}`
		form   = `{"resourceType":"customer","resourceId":"","key":"none","value":1}`
		other  = `{"resourceType":"invoice","resourceId":"inv_2","key":"note","value":"x"}`
	)
	if got := p.put(other, record).refused(http.StatusNotFound, codes.RecordNotFound.Code); got.Params["p0"] != "invoice" || got.Params["p1"] != "absent_1" {
		t.Errorf("record: %+v", got)
	}
	p.put(other, record, value).refused(http.StatusBadRequest, codes.InvalidAppDataValue.Code)
	if got := p.put(other, record, value, field).refused(http.StatusBadRequest, codes.UnknownAppDataField.Code); got.Params["p0"] != "none" || got.Params["p1"] != "invoice" {
		t.Errorf("field: %+v", got)
	}
	if got := p.put(other, value, field, access).refused(http.StatusForbidden, codes.AppCannotAccessType.Code); got.Params["p0"] != "customer" {
		t.Errorf("access: %+v", got)
	}
	p.put(other, value, field, access, form).invalid("values[4].resourceId must have 1 to 256 characters")
	if n := len(k.books.asked); n != 1 {
		t.Errorf("the host was asked %d times about records", n)
	}
	p.list("resourceIds=inv_2").shows() // APD-02: nothing of any of them was written
}

// APD-03: the error reports every invalid value with its reason.
func TestPutTellsEveryBrokenValue(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT","minLength":2,"maxLength":3}`)
	p.declare(p.app, `{"resourceType":"invoice","key":"paid","type":"BOOLEAN"}`)
	p.declare(p.app, `{"resourceType":"customer","key":"note","type":"NUMBER","max":5}`)
	got := p.put(on("inv_1", "note", `"x"`), on("inv_1", "paid", "true"), on("inv_2", "note", `"long"`),
		`{"resourceType":"customer","resourceId":"cus_1","key":"note","value":5.01}`, on("inv_2", "paid", `"true"`)).refused(http.StatusBadRequest, codes.InvalidAppDataValue.Code)
	want := []codes.ValueDetail{
		{ResourceType: "invoice", ResourceID: "inv_1", Key: "note", Reason: "must have at least 2 characters"},
		{ResourceType: "invoice", ResourceID: "inv_2", Key: "note", Reason: "must have at most 3 characters"},
		{ResourceType: "customer", ResourceID: "cus_1", Key: "note", Reason: "must be at most 5"},
		{ResourceType: "invoice", ResourceID: "inv_2", Key: "paid", Reason: "must be true or false"},
	}
	if diff := cmp.Diff(want, got.Details); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, isText := got.Message.(string); !isText {
		t.Errorf("message %v", got.Message)
	}
	p.list("resourceIds=inv_1,inv_2,cus_1").shows()
}

// APD-04: the host is asked once, about each record once, in the token's business.
func TestPutAsksForRecordsOnce(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	for _, key := range []string{"a", "b"} {
		p.declare(p.app, `{"resourceType":"invoice","key":"`+key+`","type":"NUMBER"}`)
	}
	p.declare(p.app, `{"resourceType":"customer","key":"a","type":"NUMBER"}`)
	p.put(on("inv_1", "a", "1"), on("inv_1", "b", "1"), on("inv_2", "b", "1"), `{"resourceType":"customer","resourceId":"inv_1","key":"a","value":1}`).values()
	want := [][]appdata.Record{{{ResourceType: "invoice", ResourceID: "inv_1"}, {ResourceType: "invoice", ResourceID: "inv_2"}, {ResourceType: "customer", ResourceID: "inv_1"}}}
	if diff := cmp.Diff(want, p.books.asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	p.put(on("of biz_1", "a", "1")).values()
	p.put(on("of biz_2", "a", "1")).refused(http.StatusNotFound, codes.RecordNotFound.Code)
}

// A field that is deleted during a PUT is treated as if the PUT had come later. If the
// field is declared again meanwhile, the PUT may be retried.
func TestPutLosesItsField(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	const declaration = `{"resourceType":"invoice","key":"note","type":"TEXT"}`
	field := p.declare(p.app, declaration)
	p.books.onAsk = func() { p.Must(p.data.DeleteField(t.Context(), p.app.ID, field.ID)) }
	p.put(on("inv_1", "note", `"x"`)).refused(http.StatusBadRequest, codes.UnknownAppDataField.Code)
	field = p.declare(p.app, declaration)
	p.books.onAsk = func() {
		p.Must(p.data.DeleteField(t.Context(), p.app.ID, field.ID))
		p.declare(p.app, declaration)
	}
	p.put(on("inv_1", "note", `"x"`)).refused(http.StatusServiceUnavailable, "")
	p.books.onAsk = nil
	p.list("resourceId=inv_1").shows()
	p.put(on("inv_1", "note", `"x"`)).shows(`inv_1 note "x"`)
}
