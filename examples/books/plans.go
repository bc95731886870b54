package books

import (
	"context"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
)

// openLedger opens the records in the database of the books.
func openLedger(b *Books, now clock.Clock) (*ledger.Ledger, error) {
	// It keeps nothing itself: what it records, the platform's own shows and sends.
	log, err := events.New(events.Config{Store: b.store, Clock: now})
	if err != nil {
		return nil, err
	}
	return ledger.New(ledger.Config{Store: b.store, Events: log, Plans: b, Clock: now})
}

// Plan implements ledger.Plans. Turnover is limited on the free plan alone.
func (b *Books) Plan(ctx context.Context, businessID string) (p ledger.Plan, err error) {
	err = one(ctx, b.store, "SELECT plan, currency, invoice_limit, turnover_limit FROM books_business WHERE id = $1", []any{businessID},
		&p.Name, &p.Currency, &p.InvoiceLimit, &p.TurnoverLimit)
	if p.Name != "FREE" {
		p.TurnoverLimit = nil
	}
	return p, err
}
