package ledger

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/storage"
)

// FillDemo gives a business records to look at, as if they had been made in the days
// before now. It records no events for them. Their invoices count toward the
// plan.
func FillDemo(ctx context.Context, tx storage.Tx, businessID string, now time.Time) error {
	d := demo{tx: tx, businessID: businessID, at: now.AddDate(0, 0, -20)}
	hotel := d.contact(ctx, customers, "Hotel Linden", "office@linden.example")
	school := d.contact(ctx, customers, "School at the Lake", "")
	d.contact(ctx, suppliers, "Mill & Sons", "sales@mill.example")
	d.contact(ctx, suppliers, "City Power", "")

	bank := d.account(ctx, "1200", "Bank", "asset")
	d.account(ctx, "1400", "Receivables", "asset")
	d.account(ctx, "1600", "Payables", "liability")
	d.account(ctx, "8400", "Sales", "revenue")
	rent := d.account(ctx, "4210", "Rent", "expense")

	d.invoice(ctx, "2026-0001", hotel, 48000, 48000)
	d.invoice(ctx, "2026-0002", school, 11900, 4000)
	d.invoice(ctx, "2026-0003", hotel, 25550, 0)
	d.entry(ctx, 90000, rent, bank)
	return d.err
}

// demo adds records, each some time after the one before it, until one fails.
type demo struct {
	tx         storage.Tx
	businessID string
	at         time.Time
	err        error
}

// next returns the time of the next record.
func (d *demo) next() time.Time {
	d.at = d.at.Add(7 * time.Hour)
	return d.at
}

// keep runs an operation unless an earlier one failed.
func (d *demo) keep(act func() error) {
	if d.err == nil {
		d.err = act()
	}
}

func (d *demo) contact(ctx context.Context, t table[Contact], name, email string) (contactID string) {
	at := d.next()
	c := Contact{ID: id.New(t.kind, at), Name: name, CreatedAt: stamp.Of(at)}
	if email != "" {
		c.Email = &email
	}
	d.keep(func() error { return t.insert(ctx, d.tx, d.businessID, c.row()) })
	return c.ID
}

func (d *demo) account(ctx context.Context, code, name, kind string) (accountID string) {
	at := d.next()
	a := Account{ID: id.New(id.Account, at), Code: code, Name: name, Type: kind, CreatedAt: stamp.Of(at)}
	d.keep(func() error { return accounts.insert(ctx, d.tx, d.businessID, a.row()) })
	return a.ID
}

func (d *demo) invoice(ctx context.Context, number, customerID string, total, paid int64) {
	at := d.next()
	i := Invoice{ID: id.New(id.Invoice, at), Number: number, CustomerID: &customerID, Currency: demoCurrency, Total: total, paid: paid, CreatedAt: stamp.Of(at)}
	d.keep(func() error {
		plan := Plan{Currency: demoCurrency}
		return plan.take(ctx, d.tx, d.businessID, at.UTC().Year(), []Invoice{i})
	})
	d.keep(func() error { return invoices.insert(ctx, d.tx, d.businessID, i.row()) })
	if paid == 0 {
		return
	}
	at = d.next()
	p := Payment{ID: id.New(id.Payment, at), InvoiceID: i.ID, Amount: paid, Currency: demoCurrency, CreatedAt: stamp.Of(at)}
	d.keep(func() error { return payments.insert(ctx, d.tx, d.businessID, p.row()) })
}

func (d *demo) entry(ctx context.Context, amount int64, debit, credit string) {
	at := d.next()
	e := Entry{
		ID: id.New(id.JournalEntry, at), Date: at.UTC().Format(time.DateOnly), Currency: demoCurrency, CreatedAt: stamp.Of(at),
		Lines: []Line{{AccountID: debit, Debit: amount}, {AccountID: credit, Credit: amount}},
	}
	d.keep(func() error { return e.insert(ctx, d.tx, d.businessID) })
}

// demoCurrency is the currency of the demo's businesses.
const demoCurrency = "EUR"
