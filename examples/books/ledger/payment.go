package ledger

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/storage"
)

// Payment is money that came in for an invoice.
type Payment struct {
	ID        string     `json:"id"` // pay_…
	InvoiceID string     `json:"invoiceId"`
	Amount    int64      `json:"amount"` // minor units
	Currency  string     `json:"currency"`
	CreatedAt stamp.Time `json:"createdAt"`
}

var payments = table[Payment]{
	name: "books_payment", path: "/payments", resource: "payment", kind: id.Payment,
	columns: "id, invoice_id, amount, currency, created_at",
	read: func(scan func(...any) error) (p Payment, err error) {
		err = scan(&p.ID, &p.InvoiceID, &p.Amount, &p.Currency, (*millis)(&p.CreatedAt.Time))
		return p, err
	},
	idOf: func(p Payment) string { return p.ID },
}

func (p Payment) row() []any {
	return []any{p.ID, p.InvoiceID, p.Amount, p.Currency, p.CreatedAt.UnixMilli()}
}

// createPayment serves POST /payments. The invoice's status follows.
func (l *Ledger) createPayment(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		InvoiceID string `json:"invoiceId"`
		Amount    *int64 `json:"amount"`
		Currency  string `json:"currency"`
	}
	err := decode(r, &body, strictjson.Limits{}, func(f form) {
		f.text("invoiceId", body.InvoiceID, 64)
		f.money("amount", body.Amount, 1)
		f.currency(body.Currency)
	})
	if err != nil {
		return err
	}
	now := l.cfg.Clock.Now()
	made := Payment{ID: id.New(id.Payment, now), InvoiceID: body.InvoiceID, Amount: *body.Amount, Currency: body.Currency, CreatedAt: stamp.Of(now)}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		invoice, err := pay(ctx, tx, businessOf(ctx), made)
		if err != nil {
			return outcome{}, err
		}
		o := payments.created(made, "payment.received")
		if invoice.Status == Paid {
			o.happened("invoice.paid", invoice)
		} else {
			o.happened("invoice.partially_paid", invoice)
		}
		return o, payments.insert(ctx, tx, businessOf(ctx), made.row())
	})
}

// pay sets a payment off against its invoice. Of two payments for the same money
// the condition lets one through.
func pay(ctx context.Context, tx storage.Tx, businessID string, p Payment) (Invoice, error) {
	if !id.Valid(id.Invoice, p.InvoiceID) {
		return Invoice{}, invoices.absent(p.InvoiceID)
	}
	changed, err := invoices.returning(ctx, tx, `UPDATE books_invoice SET paid = paid + $3
		WHERE business_id = $1 AND id = $2 AND currency = $4 AND total - paid >= $3`, businessID, p.InvoiceID, p.Amount, p.Currency)
	if err != nil {
		return Invoice{}, err
	}
	if len(changed) == 1 {
		return changed[0], nil
	}
	invoice, err := invoices.find(ctx, tx, businessID, p.InvoiceID, "")
	f := newForm()
	switch {
	case err != nil:
		return Invoice{}, err
	case invoice.Currency != p.Currency:
		f.Add("currency", "must be %s, that of the invoice", invoice.Currency)
	default:
		f.Add("amount", "is more than what is open of the invoice: %d of %d", invoice.Total-invoice.paid, invoice.Total)
	}
	return Invoice{}, f.Err()
}

// deletePayment serves DELETE /payments/{id}, which opens the invoice again.
func (l *Ledger) deletePayment(w http.ResponseWriter, r *http.Request) error {
	paymentID := r.PathValue("id")
	if !id.Valid(id.Payment, paymentID) {
		return payments.absent(paymentID)
	}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		deleted, err := payments.returning(ctx, tx, "DELETE FROM books_payment WHERE business_id = $1 AND id = $2", businessOf(ctx), paymentID)
		switch {
		case err != nil:
			return outcome{}, err
		case len(deleted) == 0:
			return outcome{}, payments.absent(paymentID)
		}
		reopened, err := invoices.returning(ctx, tx, "UPDATE books_invoice SET paid = paid - $3 WHERE business_id = $1 AND id = $2",
			businessOf(ctx), deleted[0].InvoiceID, deleted[0].Amount)
		if err != nil {
			return outcome{}, err
		}
		o := outcome{status: http.StatusNoContent}
		o.happened("payment.deleted", deleted[0])
		o.happened("invoice.updated", reopened[0])
		return o, nil
	})
}
