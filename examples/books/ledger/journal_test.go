package ledger_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
)

func entry(lines ...string) string {
	return `{"date": "2026-09-01", "currency": "EUR", "lines": [` + strings.Join(lines, ", ") + `]}`
}

func line(accountID string, debit, credit int64) string {
	return fmt.Sprintf(`{"accountId": %q, "debit": %d, "credit": %d}`, accountID, debit, credit)
}

// BIZ-03: journal entries balance, and go to accounts that take them.
func TestEntriesBalance(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	bank := k.create("/accounts", `{"code": "1200", "name": "Bank", "type": "asset"}`)
	rent := k.create("/accounts", `{"code": "4210", "name": "Rent", "type": "expense"}`)
	gone := k.create("/accounts", `{"code": "9", "name": "Old", "type": "asset"}`)
	k.want(http.StatusOK, "PATCH", "/accounts/"+gone, `{"archived": true}`)
	const most = 1_000_000_000_000_000
	for _, test := range []struct {
		body   string
		status int
		says   string
	}{
		{entry(line(bank, 0, 100), line(rent, 100, 0)), 201, `"debit":100`},
		{entry(line(bank, 100, 0), line(bank, 0, 60), line(rent, 0, 40)), 201, ""},
		{entry(line(bank, most, 0), line(rent, 0, most)), 201, ""},
		{entry(`{"accountId": "`+bank+`", "debit": 5}`, `{"accountId": "`+rent+`", "credit": 5}`), 201, `"debit":5,"credit":0`},
		{entry(line(bank, 100, 0), line(rent, 0, 99)), 400, "they debit 100 and credit 99"},
		{entry(line(bank, 0, 0), line(rent, 0, 0)), 400, "lines[0] must have either"},
		{entry(line(bank, 5, 5), line(rent, 5, 5)), 400, "lines[1] must have either"},
		{entry(line(bank, -5, 0), line(rent, 0, -5)), 400, "lines[0].debit must be an integer of minor units"},
		{entry(line(bank, most+1, 0), line(rent, 0, most+1)), 400, "lines[0].debit must be"},
		{entry(line(bank, 5, 0)), 400, `"message":["lines must have 2 to 200 entries"]`},
		{entry(line("", 5, 5)), 400, `"message":["lines must have 2 to 200 entries","lines[0].accountId must have 1 to 64 characters, none of them a control character","lines[0] must have either a debit or a credit above 0"]`}, // ERR-06
		{entry(slices.Repeat([]string{line(bank, 5, 0)}, 201)...), 400, "lines must have 2 to 200 entries"},
		{entry(slices.Repeat([]string{"{}"}, 250_000)...), 400, `"message":["lines must have 2 to 200 entries"]`}, // ERR-04
		{entry(line(gone, 5, 0), line(bank, 0, 5)), 400, "lines[0].accountId is an account that was archived"},
		{entry(line(bank, 5, 0), line("acc_06g5plpa01o015r0g79mgnmm4c", 0, 5)), 404, "RECORD_NOT_FOUND"},
		{entry(line(bank, 5, 0), line("x", 0, 5)), 404, "RECORD_NOT_FOUND"},
		{strings.Replace(entry(line(bank, 5, 0), line(rent, 0, 5)), "2026-09-01", "2026-02-30", 1), 400, "date must be"},
		{strings.Replace(entry(line(bank, 5, 0), line(rent, 0, 5)), "2026-09-01", "2026-9-1", 1), 400, "date must be"},
		{strings.Replace(entry(line(bank, 5, 0), line(rent, 0, 5)), "EUR", "eur", 1), 400, "currency must be"},
		{`{"date": "2026-09-01", "currency": "EUR"}`, 400, "lines must have"},
	} {
		if a := k.want(test.status, "POST", "/journal-entries", test.body); !strings.Contains(a.Body, test.says) {
			t.Errorf("%.300s: %s", test.body, a.Body)
		}
	}
	if n := k.count("books_journal_entry"); n != 4 {
		t.Errorf("%d entries", n)
	}
	if a := k.in("biz_2", "POST", "/journal-entries", entry(line(bank, 0, 100), line(rent, 100, 0))); a.Status != http.StatusNotFound {
		t.Errorf("to accounts of another business: %d", a.Status)
	}
}

// Archiving an account waits for entries that are being posted to it: no entry is posted
// afterwards. Only PostgreSQL has such races and can report blocked sessions.
func TestArchivingWaitsForEntries(t *testing.T) {
	t.Parallel()
	k := newHarness(t, openPostgres)
	bank := k.create("/accounts", `{"code": "1200", "name": "Bank", "type": "asset"}`)
	rent := k.create("/accounts", `{"code": "4210", "name": "Rent", "type": "expense"}`)
	inserts, err := k.store.BeginTx(t.Context())
	k.must(err)
	defer inserts.Rollback()
	_, err = inserts.Exec(t.Context(), "LOCK TABLE books_journal_entry IN SHARE MODE") // entries come no further than to here
	k.must(err)
	// waiting reports whether a transaction waits for a row of accounts, or for the table.
	waiting := func(kind string) bool {
		var n int
		k.must(storage.One(t.Context(), k.store, `SELECT COUNT(*) FROM pg_locks waits WHERE NOT granted AND locktype IN (`+kind+`)
			AND EXISTS (SELECT 1 FROM pg_locks holds WHERE holds.pid = waits.pid AND holds.relation = 'books_account'::regclass)`, nil, &n))
		return n > 0
	}
	var posted, archived *partnertest.Response
	var wg sync.WaitGroup
	wg.Go(func() { posted = k.call("POST", "/journal-entries", entry(line(bank, 0, 5), line(rent, 5, 0))) })
	for !waiting("'relation'") {
		runtime.Gosched()
	}
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		archived = k.call("PATCH", "/accounts/"+rent, `{"archived": true}`)
	})
	for waits := false; !waits; waits = waiting("'transactionid', 'tuple'") {
		select {
		case <-done:
			k.Fatalf("archived before the entry was posted: %d %s", archived.Status, archived.Body)
		default:
		}
	}
	k.must(inserts.Rollback())
	wg.Wait()
	if posted.Status != http.StatusCreated || archived.Status != http.StatusOK {
		k.Errorf("posted %d %s, archived %d %s", posted.Status, posted.Body, archived.Status, archived.Body)
	}
}
