package ledger_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// write is a write of the API with what it needs.
type write struct {
	name, method, path, body string
	status                   int
	events                   []string
}

// writes makes what the writes need, and returns one of each kind.
func (k *harness) writes() []write {
	k.Helper()
	customer := k.create("/customers", `{"name": "C <&> \u2028", "email": "c@example.com"}`)
	invoice := k.create("/invoices", `{"number": "1", "currency": "EUR", "total": 100}`)
	paid := k.create("/payments", payment(invoice, 30, "EUR"))
	bank := k.create("/accounts", `{"code": "1200", "name": "Bank", "type": "asset"}`)
	rent := k.create("/accounts", `{"code": "4210", "name": "Rent", "type": "expense"}`)
	given := fmt.Sprintf(`{"number": "№ <2> 🧾", "currency": "EUR", "total": 5, "customerId": %q}`, customer)
	return []write{
		{"invoice", "POST", "/invoices", given, 201, []string{"invoice.created"}},
		{"import", "POST", "/invoices/bulk-import", importOf(3, given), 201, slices.Repeat([]string{"invoice.created"}, 3)},
		{"customer", "POST", "/customers", `{"name": "D"}`, 201, []string{"customer.created"}},
		{"supplier", "POST", "/suppliers", `{"name": "S", "email": null}`, 201, []string{"supplier.created"}},
		{"payment in part", "POST", "/payments", payment(invoice, 10, "EUR"), 201, []string{"payment.received", "invoice.partially_paid"}},
		{"payment in full", "POST", "/payments", payment(invoice, 60, "EUR"), 201, []string{"payment.received", "invoice.paid"}},
		{"deletion", "DELETE", "/payments/" + paid, "", 204, []string{"payment.deleted", "invoice.updated"}},
		{"account", "POST", "/accounts", `{"code": "1", "name": "A", "type": "equity"}`, 201, []string{"account.created"}},
		{"change", "PATCH", "/accounts/" + rent, `{"name": "Rents"}`, 200, []string{"account.updated"}},
		{"entry", "POST", "/journal-entries", entry(line(bank, 0, 5), line(rent, 5, 0)), 201, []string{"journal_entry.posted"}},
	}
}

var recordTables = []string{
	"books_invoice", "books_invoice_year", "books_customer", "books_supplier", "books_payment", "books_account", "books_journal_entry",
}

// state is everything that a write could leave behind.
func (k *harness) state() string {
	k.Helper()
	types, data := k.events()
	all := []string{fmt.Sprint(types, data)}
	for _, path := range []string{"/invoices", "/customers", "/suppliers", "/payments", "/accounts", "/journal-entries"} {
		all = append(all, k.want(http.StatusOK, "GET", path, "").Body)
	}
	for _, table := range recordTables {
		all = append(all, fmt.Sprint(table, k.count(table)))
	}
	invoices, turnover := k.used(2026)
	return strings.Join(append(all, fmt.Sprint(invoices, turnover)), "\n")
}

// BIZ-04, IDEM-02: a write happens with its events and its kept response, or nothing
// of it does, whichever statement fails.
func TestFaultsLeaveNothing(t *testing.T) {
	onBoth(t, func(k *harness) {
		for _, w := range k.writes() {
			before := k.state()
			for step := 1; ; step++ {
				k.store.Tap.Arm(testdb.FaultError, step)
				a := k.call(w.method, w.path, w.body, idempotency.KeyHeader, "key "+w.name)
				struck := k.store.Tap.Struck()
				k.store.Tap.Reset()
				if !struck {
					if a.Status != w.status {
						k.Errorf("%s without a fault: %d %s", w.name, a.Status, a.Body)
					}
					break
				}
				if a.Status < 500 {
					k.Fatalf("%s with a fault in statement %d: %d %s", w.name, step, a.Status, a.Body)
				}
				if after := k.state(); after != before {
					k.Fatalf("%s with a fault in statement %d left\n%s\nbefore\n%s", w.name, step, after, before)
				}
			}
			if k.state() == before {
				k.Errorf("%s did nothing", w.name)
			}
		}
	})
}

// IDEM-02: a write whose commit got no response is there, and its repetition gets the
// response.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	for _, w := range k.writes() {
		key := []string{idempotency.KeyHeader, "key " + w.name}
		k.store.Tap.Arm(testdb.FaultLostCommit, 2) // the first takes the key
		k.want(http.StatusInternalServerError, w.method, w.path, w.body, key...)
		k.store.Tap.Reset()
		done := k.state()
		if a := k.want(w.status, w.method, w.path, w.body, key...); a.Header.Get(idempotency.ReplayedHeader) == "" {
			t.Errorf("%s: not the first answer", w.name)
		}
		if k.state() != done {
			t.Errorf("%s was done again", w.name)
		}
	}
}

// BIZ-04, CAT-01: the data of an event are the bytes that a GET shows, and so is the
// response of the write.
func TestEventsShowTheRecord(t *testing.T) {
	onBoth(t, func(k *harness) {
		for _, w := range k.writes() {
			before, _ := k.events()
			a := k.want(w.status, w.method, w.path, w.body)
			types, data := k.events()
			types, data = types[len(before):], data[len(before):]
			if !slices.Equal(types, w.events) {
				k.Errorf("%s: events %v, want %v", w.name, types, w.events)
			}
			for i, text := range data {
				if types[i] == "payment.deleted" {
					continue // nothing to GET
				}
				family, _, _ := strings.Cut(types[i], ".")
				var record struct{ ID string }
				k.must(json.Unmarshal([]byte(text), &record))
				if got := k.want(http.StatusOK, "GET", pathOf[family]+"/"+record.ID, "").Body; got != text {
					k.Errorf("%s: event %s\nGET %s", w.name, text, got)
				}
			}
			if a.Status != http.StatusNoContent && w.name != "import" && a.Body != data[0] {
				k.Errorf("%s: answer %s\nevent %s", w.name, a.Body, data[0])
			}
			if location := a.Header.Get("Location"); location != "" && k.want(http.StatusOK, "GET", location, "").Body != a.Body {
				k.Errorf("%s: Location %s", w.name, location)
			}
		}
	})
}

var pathOf = map[string]string{
	"invoice": "/invoices", "customer": "/customers", "supplier": "/suppliers", "payment": "/payments", "account": "/accounts", "journal_entry": "/journal-entries",
}

// IDEM-01: a write with a key is done once, even if it is sent many times concurrently.
func TestWritesAreRepeatable(t *testing.T) {
	onBoth(t, func(k *harness) {
		for _, w := range k.writes() {
			key := []string{idempotency.KeyHeader, "key " + w.name}
			testdb.Race(4, func(int) { k.call(w.method, w.path, w.body, key...) })
			done := k.state()
			first, again := k.want(w.status, w.method, w.path, w.body, key...), k.want(w.status, w.method, w.path, w.body, key...)
			if first.Body != again.Body || first.Header.Get("Location") != again.Header.Get("Location") {
				k.Errorf("%s: %s, then %s", w.name, first.Body, again.Body)
			}
			if k.state() != done {
				k.Errorf("%s was done again", w.name)
			}
		}
		// A refusal is not kept: the key serves for the corrected write.
		key := []string{idempotency.KeyHeader, "another"}
		k.plan.InvoiceLimit = new(int64(0))
		k.want(http.StatusForbidden, "POST", "/invoices", `{"number": "1", "currency": "EUR", "total": 1}`, key...)
		k.want(http.StatusBadRequest, "POST", "/invoices", `{}`, key...)
		k.plan.InvoiceLimit = nil
		k.want(http.StatusCreated, "POST", "/invoices", `{"number": "1", "currency": "EUR", "total": 1}`, key...)
	})
}
