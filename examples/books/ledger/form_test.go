package ledger_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// BIZ-02, BIZ-03: an invalid invoice is rejected with the reason, alone or in an import,
// and nothing of it is stored.
func TestInvoicesThatAreNone(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	const money = "total must be an integer of minor units from 0 to 1000000000000000"
	for _, test := range []struct{ body, says string }{
		{`{"number": "1", "currency": "EUR"}`, money},
		{`{"number": "1", "currency": "EUR", "total": null}`, money},
		{`{"number": "1", "currency": "EUR", "total": -1}`, money},
		{`{"number": "1", "currency": "EUR", "total": 1000000000000001}`, money},
		{`{"number": "1", "currency": "EUR", "total": 9223372036854775808}`, "total is out of range"},
		{`{"number": "1", "currency": "EUR", "total": 1.5}`, "total must be an integer"},
		{`{"number": "1", "currency": "EUR", "total": 1e3}`, "total must be an integer"},
		{`{"number": "1", "currency": "EUR", "total": "100"}`, "total must be an integer"},
		{`{"number": "1", "currency": "EUR", "total": [100]}`, "total must be an integer"},
		{`{"number": "1", "currency": "EUR", "total": 1, "total": 2}`, "total is given more than once"},
		{`{"number": "1", "currency": "eur", "total": 1}`, "currency must be three capital letters"},
		{`{"number": "1", "currency": "EURO", "total": 1}`, "currency must be three capital letters"},
		{`{"number": "1", "currency": "ÄÖÜ", "total": 1}`, "currency must be three capital letters"},
		{`{"number": "1", "total": 1}`, "currency must be three capital letters"},
		{`{"number": "", "currency": "EUR", "total": 1}`, "number must have 1 to 64 characters"},
		{`{"number": "   ", "currency": "EUR", "total": 1}`, "number must have 1 to 64 characters"},
		{`{"number": 1, "currency": "EUR", "total": 1}`, "number must be a string"},
		{`{"number": "a\nb", "currency": "EUR", "total": 1}`, "number must have 1 to 64 characters"},
		{`{"number": "a\u0000", "currency": "EUR", "total": 1}`, "number has a NUL character"},
		{`{"number": "\ud800", "currency": "EUR", "total": 1}`, "number has half of a surrogate pair"},
		{`{"number": "` + strings.Repeat("x", 65) + `", "currency": "EUR", "total": 1}`, "number must have 1 to 64 characters"},
		{`{"number": "1", "currency": "EUR", "total": 1, "status": "paid"}`, "status is not a known member"},
		{`{"number": "1", "currency": "EUR", "total": 1, "businessId": "biz_2"}`, "businessId is not a known member"}, // API-02
		{`{"number": "1", "currency": "EUR", "total": 1, "customerId": 5}`, "customerId must be a string"},
	} {
		if a := k.want(http.StatusBadRequest, "POST", "/invoices", test.body); !strings.Contains(a.Body, test.says) {
			t.Errorf("%s: %s", test.body, a.Body)
		}
		body := `{"invoices": [{"number": "1", "currency": "EUR", "total": 1}, ` + test.body + `]}`
		if a := k.want(http.StatusBadRequest, "POST", "/invoices/bulk-import", body); !strings.Contains(a.Body, `["invoices[1].`+test.says) {
			t.Errorf("import of %s: %s", test.body, a.Body)
		}
	}
	for _, body := range []string{``, `null`, `[]`, `"x"`, `{`, `{}{}`, "\xff", strings.Repeat(`{"a":`, 1000), strings.Repeat("[", 100_000)} {
		k.want(http.StatusBadRequest, "POST", "/invoices", body)
		k.want(http.StatusBadRequest, "POST", "/invoices/bulk-import", body)
	}
	good := `{"number": "1", "currency": "EUR", "total": 1}`
	for n, status := range map[int]int{0: 400, 1: 201, 200: 201, 201: 400} {
		k.want(status, "POST", "/invoices/bulk-import", importOf(n, good))
	}
	for _, n := range []int{0, 201, 1_300_000} { // ERR-04
		if a := k.want(400, "POST", "/invoices/bulk-import", importOf(n, "{}")); a.Body != `{"statusCode":400,"message":["invoices must have 1 to 200 entries"],"error":"Bad Request"}` {
			t.Errorf("%d: %.300s", n, a.Body)
		}
	}
	if n := k.count("books_invoice"); n != 201 {
		t.Errorf("%d invoices", n)
	}
}

// BIZ-02, ERR-02: how large bodies may be.
func TestBodiesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	padded := func(n int) string { return `{"number": "1", "currency": "EUR", "total": 1}` + strings.Repeat(" ", n) }
	k.want(http.StatusCreated, "POST", "/invoices", padded(1<<19))
	k.want(http.StatusRequestEntityTooLarge, "POST", "/invoices", padded(1<<20))
	k.want(http.StatusCreated, "POST", "/invoices/bulk-import", importOf(1, padded(3<<20)))
	k.want(http.StatusRequestEntityTooLarge, "POST", "/invoices/bulk-import", importOf(1, padded(4<<20)))
}

// API-08: customers that an invoice names are the business's own.
func TestCustomersOfInvoices(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	own := k.create("/customers", `{"name": "Own"}`)
	a := k.in("biz_2", "POST", "/customers", `{"name": "Foreign"}`)
	_, foreign, _ := strings.Cut(a.Header.Get("Location"), "/customers/")
	invoice := func(customer string) string {
		return fmt.Sprintf(`{"number": "1", "currency": "EUR", "total": 1, "customerId": %q}`, customer)
	}
	k.want(http.StatusCreated, "POST", "/invoices", invoice(own))
	for _, other := range []string{foreign, "", "cus_1", "inv_06g5plpa01o015r0g79mgnmm4c", strings.Repeat("x", 1000)} {
		if a := k.want(http.StatusNotFound, "POST", "/invoices", invoice(other)); !strings.Contains(a.Body, "RECORD_NOT_FOUND") {
			t.Error(a.Body)
		}
		body := `{"invoices": [` + invoice(own) + `, ` + invoice(other) + `]}`
		if a := k.want(http.StatusBadRequest, "POST", "/invoices/bulk-import", body); !strings.Contains(a.Body, `["invoices[1].customerId is not a customer`) {
			t.Error(a.Body)
		}
	}
	for _, path := range []string{"/customers/" + foreign, "/customers/" + own + "x", "/customers/%00", "/customers/%ff", "/invoices/" + own} {
		k.want(http.StatusNotFound, "GET", path, "")
	}
}

// BIZ-03: customers and suppliers have a name, and perhaps an address.
func TestContactsThatAreNone(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	for _, path := range []string{"/customers", "/suppliers"} {
		for body, says := range map[string]string{
			`{}`:                                    "name must have",
			`{"name": " "}`:                         "name must have",
			`{"name": "A", "email": ""}`:            "email must be",
			`{"name": "A", "email": "a"}`:           "email must be",
			`{"name": "A", "email": "a@"}`:          "email must be",
			`{"name": "A", "email": "a@b@c"}`:       "email must be",
			`{"name": "A", "email": "a b@c"}`:       "email must be",
			`{"name": "A", "email": "a@b\u0000"}`:   "email has a NUL",
			`{"name": "A", "id": "cus_1"}`:          "id is not a known member",
			`{"name": {"first": "A"}, "email": []}`: "email must be a string",
		} {
			if a := k.want(http.StatusBadRequest, "POST", path, body); !strings.Contains(a.Body, says) {
				t.Errorf("%s %s: %s", path, body, a.Body)
			}
		}
	}
}

// APD-04: app data finds the records of the business, of every type, and no others.
func TestExistingRecords(t *testing.T) {
	onBoth(t, func(k *harness) {
		k.writes() // makes a few
		invoice := k.page("").Data[0].ID
		bank := k.create("/accounts", `{"code": "2", "name": "A", "type": "asset"}`)
		rent := k.create("/accounts", `{"code": "3", "name": "B", "type": "asset"}`)
		all := []appdata.Record{
			{ResourceType: "invoice", ResourceID: invoice},
			{ResourceType: "customer", ResourceID: k.create("/customers", `{"name": "A"}`)},
			{ResourceType: "supplier", ResourceID: k.create("/suppliers", `{"name": "A"}`)},
			{ResourceType: "payment", ResourceID: k.create("/payments", payment(invoice, 1, "EUR"))},
			{ResourceType: "account", ResourceID: bank},
			{ResourceType: "account", ResourceID: rent},
			{ResourceType: "journal_entry", ResourceID: k.create("/journal-entries", entry(line(bank, 1, 0), line(rent, 0, 1)))},
		}
		asked := append([]appdata.Record{
			{ResourceType: "customer", ResourceID: invoice}, {ResourceType: "invoice", ResourceID: "x'; --"}, {ResourceType: "boat", ResourceID: invoice},
		}, all...)
		k.store.Tap.Reset()
		found, err := k.ledger.ExistingRecords(k.Context(), "biz_1", asked)
		k.must(err)
		if n, _ := k.store.Tap.Counts(); n != 6 {
			k.Errorf("%d statements for six types", n)
		}
		if len(found) != len(all) {
			k.Errorf("found %v", found)
		}
		if found, err := k.ledger.ExistingRecords(k.Context(), "biz_2", asked); err != nil || len(found) != 0 {
			k.Errorf("another business has %v, %v", found, err)
		}
	})
}
