package ledger

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/storage"
)

// Account is an entry of a business's chart of accounts.
type Account struct {
	ID        string     `json:"id"`   // acc_…
	Code      string     `json:"code"` // no other account of the business has it
	Name      string     `json:"name"`
	Type      string     `json:"type"`
	Archived  bool       `json:"archived,omitempty"` // nothing is posted to it any more
	CreatedAt stamp.Time `json:"createdAt"`
}

// accountTypes are the types of accounts. What a business sells is revenue, what
// else it earns is income.
var accountTypes = []string{"asset", "liability", "equity", "revenue", "income", "expense"}

var accounts = table[Account]{
	name: "books_account", path: "/accounts", resource: "account", kind: id.Account,
	columns: "id, code, name, type, archived, created_at",
	read: func(scan func(...any) error) (a Account, err error) {
		err = scan(&a.ID, &a.Code, &a.Name, &a.Type, &a.Archived, (*millis)(&a.CreatedAt.Time))
		return a, err
	},
	idOf: func(a Account) string { return a.ID },
}

func (a Account) row() []any {
	return []any{a.ID, a.Code, a.Name, a.Type, a.Archived, a.CreatedAt.UnixMilli()}
}

func (a Account) validate(f form) {
	f.text("code", a.Code, 32)
	f.text("name", a.Name, 200)
	if !slices.Contains(accountTypes, a.Type) {
		f.Add("type", "must be one of %s", strings.Join(accountTypes, ", "))
	}
}

// createAccount serves POST /accounts.
func (l *Ledger) createAccount(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Code string `json:"code"`
		Name string `json:"name"`
		Type string `json:"type"`
	}
	validate := func(f form) { Account{Code: body.Code, Name: body.Name, Type: body.Type}.validate(f) }
	if err := decode(r, &body, strictjson.Limits{}, validate); err != nil {
		return err
	}
	now := l.cfg.Clock.Now()
	made := Account{ID: id.New(id.Account, now), Code: body.Code, Name: body.Name, Type: body.Type, CreatedAt: stamp.Of(now)}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		return accounts.created(made, "account.created"), withCode(ctx, tx, made, func(ctx context.Context, tx storage.Tx) error {
			return accounts.insert(ctx, tx, businessOf(ctx), made.row())
		})
	})
}

// withCode runs an operation that gives an account its code. When it fails because another
// account has the code, the error says so.
func withCode(ctx context.Context, tx storage.Tx, a Account, act storage.Operation) error {
	err := storage.Savepoint(ctx, tx, act)
	if err == nil {
		return nil
	}
	// The databases have no error in common that could be asked about; the other
	// account can be.
	others, looking := accounts.where(ctx, tx, "business_id = $1 AND code = $2 AND id <> $3", businessOf(ctx), a.Code, a.ID)
	if looking != nil || len(others) == 0 {
		return err
	}
	return apierror.InvalidAt("code", "%q is that of another account", a.Code).WithCause(err)
}
