package ledger_test

import (
	"net/http"
	"slices"
	"testing"
)

// ERR-06: every body of the books has its wrong types and what else is wrong with it named
// at once.
func TestEveryProblemAtOnce_ERR06(t *testing.T) {
	onBoth(t, func(k *harness) {
		account := k.create("/accounts", `{"code": "1000", "name": "Cash", "type": "asset"}`)
		for _, test := range []struct {
			method, path, body string
			problems           []string
		}{
			{"POST", "/invoices", `{"number": 1, "currency": "eur"}`, []string{
				"number must be a string", "currency must be three capital letters, such as EUR", "total must be an integer of minor units from 0 to 1000000000000000",
			}},
			{"POST", "/invoices/bulk-import", `{"invoices": [{"number": "1", "currency": "EUR", "total": 1}, {"number": "2", "currency": 1, "total": -1}]}`, []string{
				"invoices[1].currency must be a string", "invoices[1].total must be an integer of minor units from 0 to 1000000000000000",
			}},
			{"POST", "/customers", `{"name": "", "email": 1}`, []string{"email must be a string", "name must have 1 to 200 characters, none of them a control character"}},
			{"POST", "/payments", `{"amount": "1", "currency": "EUR"}`, []string{"amount must be an integer", "invoiceId must have 1 to 64 characters, none of them a control character"}},
			{"PATCH", "/accounts/" + account, `{"archived": 1, "name": null, "type": "odd"}`, []string{
				"archived must be a boolean", "name must not be null", "type must be one of asset, liability, equity, revenue, income, expense",
			}},
			{"POST", "/journal-entries", `{"date": "1 May", "currency": "EUR", "lines": [{"accountId": "a", "debit": "1"}, {"accountId": "b", "credit": 1}]}`, []string{
				"lines[0].debit must be an integer", "date must be a date like 2026-09-01",
			}},
		} {
			var body struct{ Message []string }
			k.want(http.StatusBadRequest, test.method, test.path, test.body).Decode(&body)
			if !slices.Equal(body.Message, test.problems) {
				k.Errorf("%s %s: %q, want %q", test.method, test.path, body.Message, test.problems)
			}
		}
	})
}
