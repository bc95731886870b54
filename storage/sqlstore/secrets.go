package sqlstore

import (
	"context"
	"database/sql"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const clientColumns = "a.id, a.type, a.status, a.origin, a.document_fetched_at, a.document_fresh_until, a.first_secret, a.second_secret"

// clientRow scans a row of clientColumns. It is part of every request of
// a client, so all that it needs is one allocation.
type clientRow struct {
	client         oauthstore.Client
	fetched, fresh int64
	digests        [partner.MaxClientSecrets][]byte
}

func (r *clientRow) dest() []any {
	client := &r.client
	return append(make([]any, 0, 24), // with room for what the client presents
		&client.ID, (*string)(&client.Type), (*string)(&client.Status), (*string)(&client.Origin), &r.fetched, &r.fresh, &r.digests[0], &r.digests[1])
}

func (r *clientRow) decode(clientID string) error {
	client := &r.client
	client.ClientID, client.DocumentFetchedAt, client.DocumentFreshUntil = clientID, fromMS(r.fetched), fromMS(r.fresh)
	for _, digest := range r.digests {
		if digest == nil {
			continue
		}
		var d secret.Digest
		if err := d.Scan(digest); err != nil {
			return err
		}
		client.Secrets = append(client.Secrets, d)
	}
	return nil
}

// Client implements oauthstore.Store.
func (s *Store) Client(ctx context.Context, clientID string) (oauthstore.Client, error) {
	var row clientRow
	err := s.read(ctx, "SELECT "+clientColumns+" FROM partnerkit_app a WHERE a.client_id = $1", []any{clientID}, row.dest()...)
	if err == nil {
		err = row.decode(clientID)
	}
	return row.client, wrap("client", notFound(err))
}

// ChangeClientSecrets implements oauthstore.Store. It holds the app, which every change
// of its secrets waits for.
func (s *Store) ChangeClientSecrets(ctx context.Context, appID string, change func([]partner.ClientSecret) ([]partner.ClientSecret, error)) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var one int
		if err := tx.one(ctx, "SELECT 1 FROM partnerkit_app WHERE id = $1"+tx.dialect.ForUpdate, []any{appID}, &one); err != nil {
			return notFound(err)
		}
		before, err := readSecrets(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		diff, err := changedItems(before, func(c partner.ClientSecret) string { return c.ID }, change)
		if err != nil {
			return err
		}
		for _, c := range diff.changed {
			if _, err := tx.exec(ctx, "UPDATE partnerkit_client_secret SET revoked_at = $2 WHERE id = $1", c.ID, nullMS(c.EndedAt)); err != nil {
				return err
			}
		}
		for _, c := range diff.added {
			c.AppID = appID
			if err := tx.addSecret(ctx, c); err != nil {
				return err
			}
		}
		return tx.noteSecrets(ctx, appID)
	})
	return wrap("change client secrets", err)
}

func (t *tx) addSecret(ctx context.Context, s partner.ClientSecret) error {
	_, err := t.exec(ctx, "INSERT INTO partnerkit_client_secret (id, app_id, digest, prefix, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)",
		s.ID, s.AppID, s.Digest.Bytes(), s.Prefix, ms(s.CreatedAt), nullMS(s.EndedAt))
	return err
}

// noteSecrets writes into the row of a locked app which of its secrets are valid now;
// oauthstore.ErrTooManySecrets when there are more than it has columns for.
func (t *tx) noteSecrets(ctx context.Context, appID string) error {
	var n int
	if err := t.one(ctx, "SELECT COUNT(*) FROM partnerkit_client_secret WHERE app_id = $1 AND revoked_at IS NULL", []any{appID}, &n); err != nil {
		return err
	}
	if n > partner.MaxClientSecrets {
		return oauthstore.ErrTooManySecrets
	}
	const valid = "(SELECT digest FROM partnerkit_client_secret WHERE app_id = $1 AND revoked_at IS NULL ORDER BY id LIMIT 1"
	_, err := t.exec(ctx, "UPDATE partnerkit_app SET first_secret = "+valid+"), second_secret = "+valid+" OFFSET 1) WHERE id = $1", appID)
	return err
}

// ClientSecrets implements oauthstore.Store.
func (s *Store) ClientSecrets(ctx context.Context, appID string) ([]partner.ClientSecret, error) {
	secrets, err := readSecrets(ctx, s, s.sql, appID)
	return secrets, wrap("client secrets", err)
}

func readSecrets(ctx context.Context, from storage.Querier, text *sqlText, appID string) ([]partner.ClientSecret, error) {
	var secrets []partner.ClientSecret
	err := storage.Each(ctx, from, text.of("SELECT id, digest, prefix, created_at, revoked_at FROM partnerkit_client_secret WHERE app_id = $1 ORDER BY id"), []any{appID},
		func(scan func(...any) error) error {
			one := partner.ClientSecret{AppID: appID}
			var created int64
			var ended sql.NullInt64
			if err := scan(&one.ID, &one.Digest, &one.Prefix, &created, &ended); err != nil {
				return err
			}
			one.CreatedAt, one.EndedAt = fromMS(created), fromNullMS(ended)
			secrets = append(secrets, one)
			return nil
		})
	return secrets, err
}
