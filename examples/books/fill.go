package books

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Organization is a partner that makes apps.
type Organization struct {
	ID, Name string
	Members  []string // users
}

// Business is a customer of the accounting service.
type Business struct {
	ID, Name      string
	SandboxOf     string // an organization; empty for a real business
	Plan          string // FREE or PAID
	InvoiceLimit  *int64 // in a calendar year; nil: none
	TurnoverLimit *int64 // in minor units of the currency, on the plan FREE; nil: none
	Currency      string
	Members       []Member
}

// Member is a user in a business.
type Member struct {
	UserID      string
	Role        Role
	Permissions []string // nil: what the role gives
}

// Origin returns where the data of the database came from, as it was given to [Books.Fill].
// It returns ErrAbsent when the database is empty.
func (b *Books) Origin(ctx context.Context) (string, error) { return originOf(ctx, b.store) }

func originOf(ctx context.Context, from storage.Querier) (origin string, err error) {
	err = one(ctx, from, "SELECT value FROM books_setting WHERE name = 'fixtures'", nil, &origin)
	return origin, err
}

// Fill runs fill on an empty database, in one transaction, which the store has joined. It
// reports false when the database was not empty, and then fill is not called. When
// several nodes start together, exactly one fills the database.
func (b *Books) Fill(ctx context.Context, origin string, fill func(store *sqlstore.Store, tx storage.Tx) error) (filled bool, err error) {
	err = b.store.InTx(ctx, func(tx storage.Tx) error {
		if err := takeTurn(ctx, tx); err != nil {
			return err
		}
		if _, err := originOf(ctx, tx); !errors.Is(err, ErrAbsent) {
			return err
		}
		filled = true
		if err := fill(b.store.WithTx(tx), tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO books_setting (name, value) VALUES ('fixtures', $1)", origin)
		return err
	})
	return filled && err == nil, err
}

// AddUser adds a user. The email is kept in its normal spelling.
func AddUser(ctx context.Context, tx storage.Tx, u User) error {
	_, err := tx.Exec(ctx, "INSERT INTO books_user (id, email, name, password_hash, is_operator) VALUES ($1, $2, $3, $4, $5)",
		u.ID, NormalEmail(u.Email), u.Name, u.PasswordHash, u.IsOperator)
	return err
}

// AddOrganization adds an organization with its members. Organizations are listed by
// position.
func AddOrganization(ctx context.Context, tx storage.Tx, o Organization, position int) error {
	if _, err := tx.Exec(ctx, "INSERT INTO books_organization (id, name, position) VALUES ($1, $2, $3)", o.ID, o.Name, position); err != nil {
		return err
	}
	for _, userID := range o.Members {
		if _, err := tx.Exec(ctx, "INSERT INTO books_organization_member (organization_id, user_id) VALUES ($1, $2)", o.ID, userID); err != nil {
			return fmt.Errorf("member %s: %w", userID, err)
		}
	}
	return nil
}

// AddBusiness adds a business with its members. Businesses are listed by position.
func AddBusiness(ctx context.Context, tx storage.Tx, b Business, position int) error {
	if _, err := tx.Exec(ctx, `INSERT INTO books_business (id, name, sandbox_of, plan, invoice_limit, turnover_limit, currency, position)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		b.ID, b.Name, b.SandboxOf, b.Plan, b.InvoiceLimit, b.TurnoverLimit, b.Currency, position); err != nil {
		return err
	}
	for _, m := range b.Members {
		own, err := ownPermissions(m.Permissions)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO books_member (business_id, user_id, role, permissions) VALUES ($1, $2, $3, $4)",
			b.ID, m.UserID, string(m.Role), own); err != nil {
			return fmt.Errorf("member %s: %w", m.UserID, err)
		}
	}
	return nil
}

// ownPermissions returns the column of a member's own permissions; nil for those of the role.
func ownPermissions(permissions []string) (*string, error) {
	if permissions == nil {
		return nil, nil
	}
	text, err := json.Marshal(permissions)
	if err != nil {
		return nil, err
	}
	return new(string(text)), nil
}
