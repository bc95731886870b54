package ledger_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
)

// BIZ-01: exactly one of many concurrent requests gets the last place, and the counter
// equals the number of invoices.
func TestLastPlace(t *testing.T) {
	onBoth(t, func(k *harness) {
		k.plan.InvoiceLimit = new(int64(3))
		for range 2 {
			k.create("/invoices", `{"number": "1", "currency": "EUR", "total": 100}`)
		}
		var won, refused atomic.Int32
		testdb.Race(32, func(int) {
			switch a := k.call("POST", "/invoices", `{"number": "2", "currency": "EUR", "total": 100}`); {
			case a.Status == http.StatusCreated:
				won.Add(1)
			case a.Status == http.StatusForbidden && strings.Contains(a.Body, "INVOICE_LIMIT_REACHED"):
				refused.Add(1)
			default:
				k.Errorf("%d %s", a.Status, a.Body)
			}
		})
		if won.Load() != 1 || refused.Load() != 31 {
			k.Errorf("%d winners, %d refused", won.Load(), refused.Load())
		}
		k.wantUsed(2026, 3, 300)
	})
}

// BIZ-01, BIZ-02: imports race for places that are enough for some of them, from the
// year's first invoice on.
func TestImportsRace(t *testing.T) {
	onBoth(t, func(k *harness) {
		k.plan.InvoiceLimit = new(int64(100))
		k.plan.TurnoverLimit = new(int64(60))
		body := importOf(20, `{"number": "1", "currency": "EUR", "total": 1}`)
		var won atomic.Int32
		testdb.Race(12, func(int) {
			if k.call("POST", "/invoices/bulk-import", body).Status == http.StatusCreated {
				won.Add(1)
			}
		})
		if won.Load() != 3 { // the third begins at 40, and its last invoice at 59
			k.Errorf("%d imports of 20 in a turnover of 60", won.Load())
		}
		k.wantUsed(2026, 60, 60)
	})
}

// wantUsed compares the counter with what it should be, and with the rows.
func (k *harness) wantUsed(year int, invoices, turnover int64) {
	k.Helper()
	gotInvoices, gotTurnover := k.used(year)
	if gotInvoices != invoices || gotTurnover != turnover {
		k.Errorf("%d: counted %d invoices and %d, want %d and %d", year, gotInvoices, gotTurnover, invoices, turnover)
	}
	if rows := int64(k.count("books_invoice")); rows != gotInvoices {
		k.Errorf("%d rows, counted %d", rows, gotInvoices)
	}
	if types, _ := k.events(); int64(len(types)) != gotInvoices {
		k.Errorf("%d events, counted %d", len(types), gotInvoices)
	}
}

func importOf(n int, invoice string) string {
	return `{"invoices": [` + strings.TrimSuffix(strings.Repeat(invoice+",", n), ",") + `]}`
}

// BIZ-01: what the ceilings count, and what the refusal says.
func TestCeilings(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	post := func(currency string, total int64) *partnertest.Response {
		return k.call("POST", "/invoices", fmt.Sprintf(`{"number": "1", "currency": %q, "total": %d}`, currency, total))
	}
	k.plan.Name, k.plan.InvoiceLimit, k.plan.TurnoverLimit = "FREE", new(int64(4)), new(int64(1000))
	for _, step := range []struct {
		currency string
		total    int64
		status   int
		says     string
	}{
		{"EUR", 999, 201, ""},
		{"USD", 5_000_000, 201, ""}, // no turnover
		{"EUR", 1, 201, ""},         // now the turnover is at the cap
		{"EUR", 0, 403, "the FREE plan allows a turnover of 1000 minor units of EUR a calendar year"},
		{"USD", 1, 403, "a turnover of 1000"}, // the cap is reached: every invoice is rejected
	} {
		if a := post(step.currency, step.total); a.Status != step.status || !strings.Contains(a.Body, step.says) {
			t.Errorf("%d %s: %d %s", step.total, step.currency, a.Status, a.Body)
		}
	}
	k.wantUsed(2026, 3, 1000)
	k.plan.TurnoverLimit = new(int64(1001))
	if a := post("EUR", 5_000); a.Status != http.StatusCreated { // turnover below the cap lets one invoice pass it
		t.Errorf("beyond the cap: %d %s", a.Status, a.Body)
	}
	k.wantUsed(2026, 4, 6000)
	if a := post("USD", 1); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "the FREE plan allows 4 invoices a calendar year") {
		t.Errorf("at both caps: %d %s", a.Status, a.Body)
	}
	k.want(http.StatusForbidden, "POST", "/invoices/bulk-import", importOf(1, `{"number": "1", "currency": "USD", "total": 1}`))
	k.want(http.StatusOK, "GET", "/invoices", "") // reading goes on
	k.want(http.StatusCreated, "POST", "/customers", `{"name": "A"}`)

	k.clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 900_000_000, time.UTC).Sub(start))
	if a := post("EUR", 1); a.Status != http.StatusForbidden {
		t.Errorf("in the year's last moment: %d", a.Status)
	}
	k.clock.Advance(100 * time.Millisecond)
	if a := post("EUR", 9000); a.Status != http.StatusCreated { // the year's first
		t.Errorf("in the new year: %d %s", a.Status, a.Body)
	}
	if invoices, turnover := k.used(2027); invoices != 1 || turnover != 9000 {
		t.Errorf("2027: %d invoices, %d", invoices, turnover)
	}
	k.plan.InvoiceLimit = new(int64(0))
	if a := k.in("biz_new", "POST", "/invoices", `{"number": "1", "currency": "EUR", "total": 1}`); a.Status != http.StatusForbidden {
		t.Errorf("a plan without invoices: %d", a.Status)
	}
	k.plan.InvoiceLimit, k.plan.TurnoverLimit = nil, new(int64(0))
	if a := k.in("biz_new", "POST", "/invoices", `{"number": "1", "currency": "EUR", "total": 1}`); a.Status != http.StatusForbidden {
		t.Errorf("a plan without turnover: %d", a.Status)
	}
}

// BIZ-01, BIZ-02: an import checks the ceiling for each invoice in turn, and takes all or
// none.
func TestCeilingOfImports_BIZ02(t *testing.T) {
	onBoth(t, func(k *harness) {
		const one = `{"number": "1", "currency": "EUR", "total": 10}`
		k.plan.Name, k.plan.InvoiceLimit, k.plan.TurnoverLimit = "FREE", new(int64(10)), new(int64(25))
		for _, step := range []struct {
			limit, turnover int64 // of the plan
			n               int
			says            string // empty: imported
		}{
			{10, 25, 4, "a turnover of 25"}, // before the fourth there are 30
			{10, 31, 5, "a turnover of 31"}, // before the fifth there are 40
			{2, 31, 3, "2 invoices"},        // the third finds two
			{2, 10, 3, "a turnover of 10"},  // the second finds 10, the third would find two
			{10, 25, 3, ""},                 // before the third there are 20
			{10, 30, 1, "a turnover of 30"}, // there are 30
			{10, 31, 1, ""},
			{4, 1000, 1, "4 invoices"},
			{6, 1000, 3, "6 invoices"},
			{6, 1000, 2, ""},
		} {
			k.plan.InvoiceLimit, k.plan.TurnoverLimit = &step.limit, &step.turnover
			a := k.call("POST", "/invoices/bulk-import", importOf(step.n, one))
			want := http.StatusForbidden
			if step.says == "" {
				want = http.StatusCreated
			}
			if a.Status != want || !strings.Contains(a.Body, step.says) {
				k.Errorf("%+v: %d %.300s", step, a.Status, a.Body)
			}
		}
		k.wantUsed(2026, 6, 60)
	})
}

// A turnover that overflows the counter stays at the largest number, and a business without
// a turnover limit can still create invoices.
func TestTurnoverDoesNotOverflow(t *testing.T) {
	onBoth(t, func(k *harness) {
		invoice := `{"number": "1", "currency": "EUR", "total": 1000000000000000}`
		k.create("/invoices", invoice)
		tx, err := k.store.BeginTx(k.Context())
		k.must(err)
		defer tx.Rollback()
		_, err = tx.Exec(k.Context(), "UPDATE books_invoice_year SET turnover = 9223372036854775000") // as after ten thousand of them
		k.must(err)
		k.must(tx.Commit(k.Context()))
		k.create("/invoices", invoice)
		k.want(http.StatusCreated, "POST", "/invoices/bulk-import", importOf(200, invoice))
		k.wantUsed(2026, 202, 1<<63-1)
		k.plan.TurnoverLimit = new(int64(1 << 62))
		k.want(http.StatusForbidden, "POST", "/invoices", `{"number": "1", "currency": "EUR", "total": 0}`)
	})
}

// BIZ-01: the error names the limit of the plan.
func TestInvoiceLimitReached_BIZ01(t *testing.T) {
	t.Parallel()
	err := ledger.InvoiceLimitReached.New("Free", "100 invoices a calendar year")
	const want = "403 INVOICE_LIMIT_REACHED: plan limit reached: the Free plan allows 100 invoices a calendar year; invoices can still be read"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
