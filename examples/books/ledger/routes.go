package ledger

import "github.com/partnerkit/partnerkit/guard"

// The permissions that a person needs besides the scope of the app.
const (
	postJournal    guard.Permission = "journal.post"
	manageAccounts guard.Permission = "accounts.manage"
	deletePayments guard.Permission = "payments.delete"
)

// Routes returns the routes for apps and for people with a session. Those that change the chart
// of accounts, post to the journal or delete a payment ask for a permission, of apps
// besides the scope.
func (l *Ledger) Routes() []guard.Route {
	routes := []guard.Route{
		{Pattern: "GET /invoices", Scope: "invoices:read", Handler: invoices.list(l)},
		{Pattern: "GET /invoices/{id}", Scope: "invoices:read", Handler: invoices.get(l)},
		{Pattern: "POST /invoices", Scope: "invoices:write", Handler: l.createInvoice},
		{Pattern: "POST /invoices/bulk-import", Scope: "invoices:write", Handler: l.importInvoices},

		{Pattern: "GET /customers", Scope: "customers:read", Handler: customers.list(l)},
		{Pattern: "GET /customers/{id}", Scope: "customers:read", Handler: customers.get(l)},
		{Pattern: "POST /customers", Scope: "customers:write", Handler: l.createContact(customers)},

		{Pattern: "GET /suppliers", Scope: "suppliers:read", Handler: suppliers.list(l)},
		{Pattern: "GET /suppliers/{id}", Scope: "suppliers:read", Handler: suppliers.get(l)},
		{Pattern: "POST /suppliers", Scope: "suppliers:write", Handler: l.createContact(suppliers)},

		{Pattern: "GET /payments", Scope: "payments:read", Handler: payments.list(l)},
		{Pattern: "GET /payments/{id}", Scope: "payments:read", Handler: payments.get(l)},
		{Pattern: "POST /payments", Scope: "payments:write", Handler: l.createPayment},
		{Pattern: "DELETE /payments/{id}", Scope: "payments:write", Permission: deletePayments, Handler: l.deletePayment},

		{Pattern: "GET /accounts", Scope: "accounts:read", Handler: accounts.list(l)},
		{Pattern: "GET /accounts/{id}", Scope: "accounts:read", Handler: accounts.get(l)},
		{Pattern: "POST /accounts", Scope: "accounts:write", Permission: manageAccounts, Handler: l.createAccount},
		{Pattern: "PATCH /accounts/{id}", Scope: "accounts:write", Permission: manageAccounts, Handler: l.changeAccount},

		{Pattern: "GET /journal-entries", Scope: "journal:read", Handler: entries.list(l)},
		{Pattern: "GET /journal-entries/{id}", Scope: "journal:read", Handler: entries.get(l)},
		{Pattern: "POST /journal-entries", Scope: "journal:write", Permission: postJournal, Handler: l.postEntry},
	}
	for i := range routes {
		routes[i].SessionsAllowed = true
	}
	return routes
}
