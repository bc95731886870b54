package ledger

import (
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

// Status is how far an invoice has come.
type Status string

// The statuses of an invoice.
const (
	Draft         Status = "draft"
	PartiallyPaid Status = "partially_paid"
	Paid          Status = "paid"
)

// Invoice is an invoice of a business to a customer.
type Invoice struct {
	ID         string     `json:"id"` // inv_…
	Number     string     `json:"number"`
	CustomerID *string    `json:"customerId,omitempty"`
	Currency   string     `json:"currency"`
	Total      int64      `json:"total"` // minor units
	Status     Status     `json:"status"`
	CreatedAt  stamp.Time `json:"createdAt"`

	paid int64 // the sum of its payments
}

var invoices = table[Invoice]{
	name: "books_invoice", path: "/invoices", resource: "invoice", kind: id.Invoice,
	columns: "id, number, customer_id, currency, total, paid, created_at",
	read: func(scan func(...any) error) (i Invoice, err error) {
		err = scan(&i.ID, &i.Number, &i.CustomerID, &i.Currency, &i.Total, &i.paid, (*millis)(&i.CreatedAt.Time))
		i.Status = i.status()
		return i, err
	},
	idOf: func(i Invoice) string { return i.ID },
}

func (i Invoice) row() []any {
	return []any{i.ID, i.Number, i.CustomerID, i.Currency, i.Total, i.paid, i.CreatedAt.UnixMilli()}
}

// status follows from the payments.
func (i Invoice) status() Status {
	switch i.paid {
	case 0:
		return Draft
	case i.Total:
		return Paid
	}
	return PartiallyPaid
}

// givenInvoice is an invoice as an app sends it.
type givenInvoice struct {
	Number     string  `json:"number"`
	CustomerID *string `json:"customerId"`
	Currency   string  `json:"currency"`
	Total      *int64  `json:"total"`
}

// validate records every invalid member.
func (g givenInvoice) validate(f form) {
	f.text("number", g.Number, 64)
	f.currency(g.Currency)
	f.money("total", g.Total, 0)
}

// newInvoices returns the invoices of one request, in its order.
func newInvoices(given []givenInvoice, now time.Time) []Invoice {
	made := make([]Invoice, len(given))
	for i, g := range given {
		at := now.Add(time.Duration(i) * id.Resolution)
		made[i] = Invoice{
			ID: id.New(id.Invoice, at), Number: g.Number, CustomerID: g.CustomerID, Currency: g.Currency, Total: *g.Total,
			Status: Draft, CreatedAt: stamp.Of(at),
		}
	}
	return made
}
