package ledger

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/storage"
)

// Contact is a customer or a supplier.
type Contact struct {
	ID        string     `json:"id"` // cus_… or sup_…
	Name      string     `json:"name"`
	Email     *string    `json:"email,omitempty"`
	CreatedAt stamp.Time `json:"createdAt"`
}

var (
	customers = contacts("books_customer", "/customers", "customer", id.Customer)
	suppliers = contacts("books_supplier", "/suppliers", "supplier", id.Supplier)
)

func contacts(name, path, resource string, kind id.Kind) table[Contact] {
	return table[Contact]{
		name: name, path: path, resource: resource, kind: kind,
		columns: "id, name, email, created_at",
		read: func(scan func(...any) error) (c Contact, err error) {
			err = scan(&c.ID, &c.Name, &c.Email, (*millis)(&c.CreatedAt.Time))
			return c, err
		},
		idOf: func(c Contact) string { return c.ID },
	}
}

func (c Contact) row() []any { return []any{c.ID, c.Name, c.Email, c.CreatedAt.UnixMilli()} }

// createContact serves POST of customers or suppliers.
func (l *Ledger) createContact(t table[Contact]) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var body struct {
			Name  string  `json:"name"`
			Email *string `json:"email"`
		}
		err := decode(r, &body, strictjson.Limits{}, func(f form) {
			f.text("name", body.Name, 200)
			if body.Email != nil {
				f.email("email", *body.Email)
			}
		})
		if err != nil {
			return err
		}
		now := l.cfg.Clock.Now()
		made := Contact{ID: id.New(t.kind, now), Name: body.Name, Email: body.Email, CreatedAt: stamp.Of(now)}
		return l.write(w, r, func(ctx context.Context, tx storage.Tx) (outcome, error) {
			return t.created(made, t.resource+".created"), t.insert(ctx, tx, businessOf(ctx), made.row())
		})
	}
}
