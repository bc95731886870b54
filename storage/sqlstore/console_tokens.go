package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/storage"
)

const consoleTokenColumns = "id, digest, organization_id, user_id, name, created_at, expires_at, revoked_at" //nolint:gosec // names of columns

// CreateConsoleToken implements consolestore.Store.
func (s *Store) CreateConsoleToken(ctx context.Context, t consolestore.Token, limit int) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if err := tx.lockOrganization(ctx, t.OrganizationID); err != nil {
			return err
		}
		var has int
		err := tx.one(ctx, "SELECT COUNT(*) FROM partnerkit_console_token WHERE organization_id = $1 AND revoked_at IS NULL AND expires_at > $2",
			[]any{t.OrganizationID, ms(t.CreatedAt)}, &has)
		if err != nil {
			return err
		}
		if has >= limit {
			return consolestore.ErrTooManyTokens
		}
		_, err = tx.exec(ctx, "INSERT INTO partnerkit_console_token ("+consoleTokenColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, NULL)",
			t.ID, t.Digest.Bytes(), t.OrganizationID, t.UserID, t.Name, ms(t.CreatedAt), ms(t.ExpiresAt))
		return err
	})
	return wrap("create console token", err)
}

// ConsoleToken implements consolestore.Store.
func (s *Store) ConsoleToken(ctx context.Context, digest storage.Digest) (t consolestore.Token, err error) {
	var row consoleTokenRow
	err = s.read(ctx, "SELECT "+consoleTokenColumns+" FROM partnerkit_console_token WHERE digest = $1", []any{digest.Bytes()}, row.dest()...)
	return row.value(), wrap("console token", notFound(err))
}

// ConsoleTokens implements consolestore.Store.
func (s *Store) ConsoleTokens(ctx context.Context, organizationID string) ([]consolestore.Token, error) {
	var tokens []consolestore.Token
	err := storage.Each(ctx, s, s.sql.of("SELECT "+consoleTokenColumns+" FROM partnerkit_console_token WHERE organization_id = $1 AND revoked_at IS NULL ORDER BY id"),
		[]any{organizationID}, func(scan func(...any) error) error {
			var row consoleTokenRow
			err := scan(row.dest()...)
			tokens = append(tokens, row.value())
			return err
		})
	return tokens, wrap("console tokens", err)
}

// RevokeConsoleToken implements consolestore.Store.
func (s *Store) RevokeConsoleToken(ctx context.Context, organizationID, tokenID string, at time.Time) (name string, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		return tx.one(ctx, "UPDATE partnerkit_console_token SET revoked_at = $3 WHERE id = $1 AND organization_id = $2 AND revoked_at IS NULL RETURNING name",
			[]any{tokenID, organizationID, ms(at)}, &name)
	})
	return name, wrap("revoke console token", notFound(err))
}

type consoleTokenRow struct {
	token            consolestore.Token
	created, expires int64
	revoked          sql.NullInt64
}

func (r *consoleTokenRow) dest() []any {
	t := &r.token
	return []any{&t.ID, &t.Digest, &t.OrganizationID, &t.UserID, &t.Name, &r.created, &r.expires, &r.revoked}
}

func (r *consoleTokenRow) value() consolestore.Token {
	t := r.token
	t.CreatedAt, t.ExpiresAt, t.RevokedAt = fromMS(r.created), fromMS(r.expires), fromNullMS(r.revoked)
	return t
}
