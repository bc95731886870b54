package ledger

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/storage"
)

// accountChange is the body of a PATCH: what is absent stays.
type accountChange struct {
	Code     optional.Member[string] `json:"code"`
	Name     optional.Member[string] `json:"name"`
	Type     optional.Member[string] `json:"type"`
	Archived optional.Member[bool]   `json:"archived"`
}

// apply returns the account with the changes.
func (c accountChange) apply(a Account) (Account, error) {
	f := newForm()
	change(f, "code", c.Code, &a.Code)
	change(f, "name", c.Name, &a.Name)
	change(f, "type", c.Type, &a.Type)
	change(f, "archived", c.Archived, &a.Archived)
	a.validate(f)
	return a, f.Err()
}

func change[T any](f form, name string, sent optional.Member[T], value *T) {
	switch {
	case !sent.IsSent:
	case sent.Value == nil:
		f.Add(name, "must not be null")
	default:
		*value = *sent.Value
	}
}

// changeAccount serves PATCH /accounts/{id}. A change that changes nothing is no
// event.
func (l *Ledger) changeAccount(w http.ResponseWriter, r *http.Request) error {
	var body accountChange
	check := func() error {
		was, err := accounts.find(r.Context(), l.cfg.Store, businessOf(r.Context()), r.PathValue("id"), "")
		if err == nil {
			_, err = body.apply(was)
		}
		return err
	}
	if err := strictjson.Decode(r, &body, strictjson.Limits{Check: check}); err != nil {
		return err
	}
	return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
		was, err := accounts.find(ctx, tx, businessOf(ctx), r.PathValue("id"), l.cfg.Store.Dialect().ForUpdate)
		if err != nil {
			return outcome{}, err
		}
		is, err := body.apply(was)
		if err != nil {
			return outcome{}, err
		}
		o := outcome{status: http.StatusOK, body: is}
		if is == was {
			return o, nil
		}
		archived := is.Archived && !was.Archived
		if archived {
			was.Archived = true
		}
		if is != was { // it was not only archived
			o.happened("account.updated", is)
		}
		if archived {
			o.happened("account.archived", is)
		}
		return o, withCode(ctx, tx, is, func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE books_account SET code = $3, name = $4, type = $5, archived = $6 WHERE business_id = $1 AND id = $2",
				businessOf(ctx), is.ID, is.Code, is.Name, is.Type, is.Archived)
			return err
		})
	})
}
