package ledger_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// status reads that of an invoice.
func (k *harness) status(invoiceID string) string {
	k.Helper()
	body := k.want(http.StatusOK, "GET", "/invoices/"+invoiceID, "").Body
	_, after, _ := strings.Cut(body, `"status":"`)
	status, _, _ := strings.Cut(after, `"`)
	return status
}

func payment(invoiceID string, amount int, currency string) string {
	return fmt.Sprintf(`{"invoiceId": %q, "amount": %d, "currency": %q}`, invoiceID, amount, currency)
}

// BIZ-03, CAT-01: the invoice follows its payments, and so do the events.
func TestInvoiceFollowsItsPayments(t *testing.T) {
	onBoth(t, func(k *harness) {
		invoice := k.create("/invoices", `{"number": "1", "currency": "EUR", "total": 100}`)
		for _, refused := range []struct {
			body   string
			status int
			says   string
		}{
			{payment(invoice, 101, "EUR"), 400, "amount is more than what is open of the invoice: 100 of 100"},
			{payment(invoice, 1, "USD"), 400, "currency must be EUR"},
			{payment("inv_06g5plpa01o015r0g79mgnmm4c", 1, "EUR"), 404, "RECORD_NOT_FOUND"},
			{payment("nothing", 1, "EUR"), 404, "RECORD_NOT_FOUND"},
		} {
			if a := k.want(refused.status, "POST", "/payments", refused.body); !strings.Contains(a.Body, refused.says) {
				k.Errorf("%s: %s", refused.body, a.Body)
			}
		}
		if a := k.in("biz_2", "POST", "/payments", payment(invoice, 1, "EUR")); a.Status != http.StatusNotFound { // API-08
			k.Errorf("for an invoice of another business: %d", a.Status)
		}
		part := k.create("/payments", payment(invoice, 60, "EUR"))
		rest := k.create("/payments", payment(invoice, 40, "EUR"))
		k.want(http.StatusBadRequest, "POST", "/payments", payment(invoice, 1, "EUR"))
		statuses := []string{k.status(invoice)}
		if a := k.in("biz_2", "DELETE", "/payments/"+part, ""); a.Status != http.StatusNotFound {
			k.Errorf("another business deletes: %d", a.Status)
		}
		for _, one := range []string{part, rest} {
			k.want(http.StatusNoContent, "DELETE", "/payments/"+one, "")
			statuses = append(statuses, k.status(invoice))
			k.want(http.StatusNotFound, "DELETE", "/payments/"+one, "")
			k.want(http.StatusNotFound, "GET", "/payments/"+one, "")
		}
		if want := []string{"paid", "partially_paid", "draft"}; !slices.Equal(statuses, want) {
			k.Errorf("statuses %v, want %v", statuses, want)
		}
		types, _ := k.events()
		if want := []string{
			"invoice.created", "payment.received", "invoice.partially_paid", "payment.received", "invoice.paid",
			"payment.deleted", "invoice.updated", "payment.deleted", "invoice.updated",
		}; !slices.Equal(types, want) {
			k.Errorf("events %v, want %v", types, want)
		}
	})
}

// Payments that race for the same money, with deletions among them: nothing is
// overpaid, and what is paid is the sum of the payments.
func TestPaymentsRace(t *testing.T) {
	onBoth(t, func(k *harness) {
		invoice := k.create("/invoices", `{"number": "1", "currency": "EUR", "total": 100}`)
		var paid atomic.Int32
		testdb.Race(16, func(int) {
			switch a := k.call("POST", "/payments", payment(invoice, 30, "EUR")); a.Status {
			case http.StatusCreated:
				paid.Add(1)
			case http.StatusBadRequest:
			default:
				k.Errorf("%d %s", a.Status, a.Body)
			}
		})
		if paid.Load() != 3 {
			k.Errorf("%d payments of 30 for 100", paid.Load())
		}
		one := k.create("/payments", payment(invoice, 10, "EUR"))
		var deleted atomic.Int32
		testdb.Race(8, func(i int) {
			if i%2 == 0 {
				k.call("POST", "/payments", payment(invoice, 7, "EUR"))
			} else if k.call("DELETE", "/payments/"+one, "").Status == http.StatusNoContent {
				deleted.Add(1)
			}
		})
		if deleted.Load() != 1 {
			k.Errorf("%d deletions of one payment", deleted.Load())
		}
		var sum, kept int64
		k.must(storage.One(k.Context(), k.store, "SELECT (SELECT SUM(amount) FROM books_payment), (SELECT paid FROM books_invoice)", nil, &sum, &kept))
		if sum != kept || kept > 100 {
			k.Errorf("payments of %d, paid %d", sum, kept)
		}
	})
}
