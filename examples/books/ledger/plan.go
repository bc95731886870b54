package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/storage"
)

// Plan limits a business in a calendar year, in UTC.
type Plan struct {
	Name          string // such as FREE, for the message
	Currency      string // in which turnover is counted: other invoices are none
	InvoiceLimit  *int64 // nil: none
	TurnoverLimit *int64 // nil: none
}

// Plans knows the plans of businesses.
type Plans interface {
	Plan(ctx context.Context, businessID string) (Plan, error)
}

// quantity is the use of a plan by invoices.
type quantity struct{ invoices, turnover int64 }

func (p Plan) quantity(made []Invoice) quantity {
	q := quantity{invoices: int64(len(made))}
	for _, invoice := range made {
		if invoice.Currency == p.Currency {
			q.turnover += invoice.Total
		}
	}
	return q
}

// takeQuantity counts invoices of a year; the counter is one row, so that of two
// requests for the last place one gets it. A turnover too large to be counted stays
// at the largest number.
const takeQuantity = `INSERT INTO books_invoice_year (business_id, year, invoices, turnover) VALUES ($1, $2, $3, $4)
	ON CONFLICT (business_id, year) DO UPDATE SET invoices = books_invoice_year.invoices + $3,
		turnover = CASE WHEN books_invoice_year.turnover > $5 THEN 9223372036854775807 ELSE books_invoice_year.turnover + $4 END
	WHERE books_invoice_year.invoices <= $6 AND books_invoice_year.turnover <= $7
	RETURNING invoices`

// take claims places for invoices that are made in a year, one after the other. A place
// is there while the year's count and turnover are below their limits: the last invoice
// may take the turnover beyond its limit. INVOICE_LIMIT_REACHED when one of the invoices
// finds no place, and then none is taken.
func (p Plan) take(ctx context.Context, tx storage.Tx, businessID string, year int, made []Invoice) error {
	q, beforeLast := p.quantity(made), p.quantity(made[:len(made)-1])
	most := quantity{math.MaxInt64, math.MaxInt64} // what may be there already
	if p.InvoiceLimit != nil {
		most.invoices = *p.InvoiceLimit - q.invoices
	}
	if p.TurnoverLimit != nil {
		most.turnover = *p.TurnoverLimit - 1 - beforeLast.turnover
	}
	if most.invoices < 0 || most.turnover < 0 { // too many for an empty year, whose row has no condition
		return p.refusal(made, quantity{})
	}
	var taken int64
	err := storage.One(ctx, tx, takeQuantity, []any{businessID, year, q.invoices, q.turnover, math.MaxInt64 - q.turnover, most.invoices, most.turnover}, &taken)
	if !errors.Is(err, storage.ErrNoRows) {
		return err
	}
	var used quantity
	if err := storage.One(ctx, tx, "SELECT invoices, turnover FROM books_invoice_year WHERE business_id = $1 AND year = $2",
		[]any{businessID, year}, &used.invoices, &used.turnover); err != nil {
		return err
	}
	return p.refusal(made, used)
}

// InvoiceLimitReached is the error of an invoice that the plan of the business does not allow.
var InvoiceLimitReached = apierror.Entry{
	Code: "INVOICE_LIMIT_REACHED", Status: http.StatusForbidden,
	Message: "plan limit reached: the {p0} plan allows {p1}; invoices can still be read",
}

// refusal names the limit that the first of the invoices without a place has met.
func (p Plan) refusal(made []Invoice, used quantity) error {
	for i := range made {
		before := p.quantity(made[:i])
		switch {
		case p.InvoiceLimit != nil && used.invoices >= *p.InvoiceLimit-before.invoices:
			return InvoiceLimitReached.New(p.Name, fmt.Sprintf("%d invoices a calendar year", *p.InvoiceLimit))
		case p.TurnoverLimit != nil && used.turnover >= *p.TurnoverLimit-before.turnover:
			return InvoiceLimitReached.New(p.Name,
				fmt.Sprintf("a turnover of %d minor units of %s a calendar year", *p.TurnoverLimit, p.Currency))
		}
	}
	return errors.New("ledger: the plan has places, and the counter has none")
}
