package ledger

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	// MaxImport is how many invoices a bulk import has, at most.
	MaxImport = 200
	// maxImportBody is how large its body may be, in bytes.
	maxImportBody = 4 << 20
	// maxImportText is more bytes than any member of an invoice needs, in escapes too.
	maxImportText = 1 << 10
)

func errImportSize() error {
	return apierror.InvalidAt("invoices", "must have 1 to %d entries", MaxImport)
}

// createInvoice serves POST /invoices.
func (l *Ledger) createInvoice(w http.ResponseWriter, r *http.Request) error {
	var given givenInvoice
	if err := decode(r, &given, strictjson.Limits{}, func(f form) { given.validate(f) }); err != nil {
		return err
	}
	if given.CustomerID != nil {
		if _, err := customers.find(r.Context(), l.cfg.Store, businessOf(r.Context()), *given.CustomerID, ""); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	return l.makeInvoices(w, r, []givenInvoice{given}, func(made []Invoice) outcome {
		return invoices.created(made[0], "invoice.created")
	})
}

// importInvoices serves POST /invoices/bulk-import: all of them, or none.
func (l *Ledger) importInvoices(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Invoices []givenInvoice `json:"invoices"`
	}
	limits := strictjson.Limits{
		MaxBytes: maxImportBody, MaxText: maxImportText,
		Lists: map[string]strictjson.List{"invoices": {Most: MaxImport, Refusal: errImportSize()}},
		Check: func() error { return l.validateImport(r.Context(), body.Invoices) },
	}
	if err := strictjson.Decode(r, &body, limits); err != nil {
		return err
	}
	if err := l.validateImport(r.Context(), body.Invoices); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return l.makeInvoices(w, r, body.Invoices, func(made []Invoice) outcome {
		o := outcome{status: http.StatusCreated, body: map[string][]Invoice{"created": made}}
		for _, invoice := range made {
			o.happened("invoice.created", invoice)
		}
		return o
	})
}

// validateImport says everything that is wrong, customers included, by the index of the
// invoice.
func (l *Ledger) validateImport(ctx context.Context, given []givenInvoice) error {
	if n := len(given); n < 1 || n > MaxImport {
		return errImportSize()
	}
	var ids []string
	for _, g := range given {
		if g.CustomerID != nil && !slices.Contains(ids, *g.CustomerID) {
			ids = append(ids, *g.CustomerID)
		}
	}
	known, err := customers.among(ctx, l.cfg.Store, businessOf(ctx), ids, "")
	if err != nil {
		return err
	}
	f := newForm()
	for i, g := range given {
		f.at = indexed("invoices", i)
		g.validate(f)
		if g.CustomerID != nil && !slices.ContainsFunc(known, func(c Contact) bool { return c.ID == *g.CustomerID }) {
			f.Add(f.at+"customerId", "is not a customer of this business")
		}
	}
	return f.Err()
}

// makeInvoices takes the places of the plan and adds the invoices, which are validated and
// whose customers exist. Customers are never deleted.
func (l *Ledger) makeInvoices(w http.ResponseWriter, r *http.Request, given []givenInvoice, response func([]Invoice) outcome) error {
	plan, err := l.cfg.Plans.Plan(r.Context(), businessOf(r.Context()))
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	now := l.cfg.Clock.Now().UTC()
	made := newInvoices(given, now)
	rows := make([][]any, len(made))
	for i, invoice := range made {
		rows[i] = invoice.row()
	}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		if err := plan.take(ctx, tx, businessOf(ctx), now.Year(), made); err != nil {
			return outcome{}, err
		}
		return response(made), invoices.insert(ctx, tx, businessOf(ctx), rows...)
	})
}
