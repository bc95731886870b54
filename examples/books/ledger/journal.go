package ledger

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/storage"
)

// maxLines is how many lines an entry has, at most.
const maxLines = 200

// Entry is a journal entry. What its lines debit is what they credit.
type Entry struct {
	ID        string     `json:"id"`   // jrn_…
	Date      string     `json:"date"` // YYYY-MM-DD
	Currency  string     `json:"currency"`
	Lines     []Line     `json:"lines"`
	CreatedAt stamp.Time `json:"createdAt"`
}

// Line is one side of an entry: either Debit or Credit is 0.
type Line struct {
	AccountID string `json:"accountId"`
	Debit     int64  `json:"debit"` // minor units
	Credit    int64  `json:"credit"`
}

var entries = table[Entry]{
	name: "books_journal_entry", path: "/journal-entries", resource: "journal_entry", kind: id.JournalEntry,
	columns: "id, date, currency, lines, created_at",
	read: func(scan func(...any) error) (e Entry, err error) {
		var lines string
		if err := scan(&e.ID, &e.Date, &e.Currency, &lines, (*millis)(&e.CreatedAt.Time)); err != nil {
			return e, err
		}
		return e, json.Unmarshal([]byte(lines), &e.Lines)
	},
	idOf: func(e Entry) string { return e.ID },
}

func (e Entry) insert(ctx context.Context, tx storage.Tx, businessID string) error {
	lines, err := json.Marshal(e.Lines)
	if err != nil {
		return err
	}
	return entries.insert(ctx, tx, businessID, []any{e.ID, e.Date, e.Currency, string(lines), e.CreatedAt.UnixMilli()})
}

// postEntry serves POST /journal-entries.
func (l *Ledger) postEntry(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Date     string      `json:"date"`
		Currency string      `json:"currency"`
		Lines    []givenLine `json:"lines"`
	}
	var lines []Line
	err := decode(r, &body, entryLimits(), func(f form) {
		f.date("date", body.Date)
		f.currency(body.Currency)
		lines = validateLines(f, body.Lines)
	})
	if err != nil {
		return err
	}
	now := l.cfg.Clock.Now()
	made := Entry{ID: id.New(id.JournalEntry, now), Date: body.Date, Currency: body.Currency, Lines: lines, CreatedAt: stamp.Of(now)}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		if err := l.checkAccounts(ctx, tx, lines); err != nil {
			return outcome{}, err
		}
		return entries.created(made, "journal_entry.posted"), made.insert(ctx, tx, businessOf(ctx))
	})
}

// checkAccounts checks that the accounts of the lines accept entries, and locks them:
// archiving an account waits.
func (l *Ledger) checkAccounts(ctx context.Context, tx storage.Tx, lines []Line) error {
	ids := make([]string, len(lines))
	for i, line := range lines {
		ids[i] = line.AccountID
	}
	known, err := accounts.among(ctx, tx, businessOf(ctx), ids, l.cfg.Store.Dialect().ForShare)
	if err != nil {
		return err
	}
	f := newForm()
	for i, line := range lines {
		at := slices.IndexFunc(known, func(a Account) bool { return a.ID == line.AccountID })
		if at < 0 {
			return accounts.absent(line.AccountID)
		}
		if known[at].Archived {
			f.Add(indexed("lines", i)+"accountId", "is an account that was archived")
		}
	}
	return f.Err()
}
