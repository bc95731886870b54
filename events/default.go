package events

import (
	"encoding/json"
	"slices"
)

// DefaultCatalog returns the catalog of an accounting service: changes of its records,
// notices about data that must go, and the events of an app's own life.
func DefaultCatalog() Catalog {
	c, err := NewCatalog(slices.Concat(lifecycle(), privacy(), sales(), purchases(), ledger())...)
	if err != nil {
		panic("events: " + err.Error()) // a table below is wrong
	}
	return c
}

// entry is a row of the tables below.
type entry struct{ name, description, sample string }

func gated(audience Audience, scope string, entries ...entry) []Definition {
	definitions := make([]Definition, len(entries))
	for i, e := range entries {
		definitions[i] = Definition{
			Name: e.name, Audience: audience, Scope: scope, Description: e.description, Sample: json.RawMessage(e.sample), Schema: defaultSchema(e.name),
		}
	}
	return definitions
}

func lifecycle() []Definition {
	return gated(AudienceApp, "",
		entry{AppInstalled, "A business connected the app", installation},
		entry{AppUninstalled, "A business removed the app or withdrew its access", installation},
		entry{AppScopesUpdated, "A business changed what the app may do", installation},
		entry{BusinessRedact, "The app was removed some time ago: delete what you keep of the business", redacted("biz_")},
		entry{AppDataUpdated, "Values of the app's own fields changed", appDataValues},
	)
}

func privacy() []Definition {
	return slices.Concat(
		gated(AudiencePrivacy, "customers:read",
			entry{"customer.redact", "A customer's personal data must go: delete what you keep of it", redacted("cus_")}),
		gated(AudiencePrivacy, "suppliers:read",
			entry{"supplier.redact", "A supplier's personal data must go: delete what you keep of it", redacted("sup_")}),
	)
}

func sales() []Definition {
	return slices.Concat(
		gated(AudienceBusiness, "invoices:read",
			entry{"invoice.created", "An invoice was created", invoice("draft")},
			entry{"invoice.updated", "An invoice was changed", invoice("draft")},
			entry{"invoice.sent", "An invoice was sent to the customer", invoice("sent")},
			entry{"invoice.viewed", "The customer opened an invoice", invoice("viewed")},
			entry{"invoice.paid", "An invoice was paid in full", invoice("paid")},
			entry{"invoice.partially_paid", "A part of an invoice was paid", invoice("partially_paid")},
			entry{"invoice.overdue", "An invoice passed its due date unpaid", invoice("overdue")},
			entry{"invoice.voided", "An invoice was declared void", invoice("void")},
			entry{"invoice.deleted", "An invoice was deleted", invoice("draft")},
			entry{"credit_note.created", "A credit note was created", creditNote("open")},
			entry{"credit_note.applied", "A credit note was set off against an invoice", creditNote("applied")},
			entry{"credit_note.voided", "A credit note was declared void", creditNote("void")},
			entry{"estimate.created", "An estimate was created", estimate("open")},
			entry{"estimate.accepted", "The customer accepted an estimate", estimate("accepted")},
			entry{"estimate.declined", "The customer declined an estimate", estimate("declined")},
		),
		gated(AudienceBusiness, "customers:read",
			entry{"customer.created", "A customer was added", customer},
			entry{"customer.updated", "A customer was changed", customer},
			entry{"customer.deleted", "A customer was deleted", customer},
		),
		gated(AudienceBusiness, "payments:read",
			entry{"payment.received", "A payment came in", payment},
			entry{"payment.updated", "A payment was changed", payment},
			entry{"payment.refunded", "A payment was paid back", payment},
			entry{"payment.deleted", "A payment was deleted", payment},
		),
	)
}

func purchases() []Definition {
	return gated(AudienceBusiness, "suppliers:read",
		entry{"supplier.created", "A supplier was added", supplier},
		entry{"supplier.updated", "A supplier was changed", supplier},
		entry{"supplier.deleted", "A supplier was deleted", supplier},
		entry{"bill.created", "A bill was entered", bill("open")},
		entry{"bill.updated", "A bill was changed", bill("open")},
		entry{"bill.paid", "A bill was paid in full", bill("paid")},
		entry{"bill.voided", "A bill was declared void", bill("void")},
	)
}

func ledger() []Definition {
	return slices.Concat(
		gated(AudienceBusiness, "accounts:read",
			entry{"account.created", "An account was added to the chart of accounts", account},
			entry{"account.updated", "An account was changed", account},
			entry{"account.archived", "An account was archived: nothing is posted to it any more", account},
			entry{"tax_rate.updated", "A tax rate was changed", taxRate},
			entry{"period.closed", "An accounting period was closed", period},
		),
		gated(AudienceBusiness, "journal:read",
			entry{"journal_entry.posted", "A journal entry was posted", journalEntry},
			entry{"journal_entry.reversed", "A journal entry was reversed", journalEntry},
		),
		gated(AudienceBusiness, "payments:read",
			entry{"bank_transaction.imported", "A transaction came in from the bank", bankTransaction("imported")},
			entry{"bank_transaction.reconciled", "A bank transaction was matched with the books", bankTransaction("reconciled")},
		),
	)
}
