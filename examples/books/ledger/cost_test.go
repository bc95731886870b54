package ledger_test

import (
	"net/http"
	"testing"
)

// What calls of the books cost beside the one statement that verifies a token, in
// statements and commits. docs/operations.md has these numbers.
func TestCosts(t *testing.T) {
	onBoth(t, func(k *harness) {
		const body = `{"number": "1", "currency": "EUR", "total": 1}`
		id := k.create("/invoices", body)
		key := []string{"Idempotency-Key", "a"}
		for _, test := range []struct {
			name                string
			status              int
			method, path, body  string
			header              []string
			statements, commits int
		}{
			{"list", http.StatusOK, "GET", "/invoices", "", nil, 1, 0},
			{"read", http.StatusOK, "GET", "/invoices/" + id, "", nil, 1, 0},
			{"create", http.StatusCreated, "POST", "/invoices", body, nil, 6, 1},
			{"create with a key", http.StatusCreated, "POST", "/invoices", body, key, 8, 2},
			{"repeat", http.StatusCreated, "POST", "/invoices", body, key, 2, 1},
		} {
			k.store.Tap.Reset()
			k.want(test.status, test.method, test.path, test.body, test.header...)
			if s, c := k.store.Tap.Counts(); s != test.statements || c != test.commits {
				k.Errorf("%s: %d statements and %d commits, want %d and %d", test.name, s, c, test.statements, test.commits)
			}
		}
	})
}
