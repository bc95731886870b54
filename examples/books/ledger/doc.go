// Package ledger is the smallest honest accounting behind a partner API: invoices,
// payments, customers, suppliers, accounts and journal entries of many businesses.
//
// [Ledger.Routes] are its calls, each with its scope and, where there is a second
// gate, its permission. A write puts its rows, its events and the response for its
// Idempotency-Key into one transaction. What two requests could race for, the last
// invoice of a plan or what is open of an invoice, one conditional statement
// decides.
//
// Money is an integer of minor units with a currency. A new invoice is a draft:
// the API has no call that sends one. It stays so until it is paid, in part or in
// full.
package ledger
