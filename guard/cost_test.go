package guard_test

import "testing"

// API-09: the way to the handler costs one read, no write, and nothing is cached.
func TestOneReadNoWrite(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	for range 3 {
		k.Store.Tap.Reset()
		k.send("GET /invoices", bearer(token)).ok()
		if statements, commits := k.Store.Tap.Counts(); statements != 1 || commits != 0 {
			t.Errorf("%d statements, %d commits", statements, commits)
		}
	}
	k.Store.Tap.Reset()
	k.send("GET /invoices", bearer("malformed"))
	k.send("GET /invoices")
	if statements, _ := k.Store.Tap.Counts(); statements != 0 {
		t.Errorf("%d statements for callers without a token that could be one", statements)
	}
}
