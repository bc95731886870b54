package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// CreateRegistrationToken implements oauthstore.Store.
func (s *Store) CreateRegistrationToken(ctx context.Context, t oauthstore.RegistrationToken) error {
	_, err := s.exec(ctx, "INSERT INTO partnerkit_registration_token (id, digest, organization_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
		t.ID, t.Digest.Bytes(), t.OrganizationID, ms(t.CreatedAt), ms(t.ExpiresAt))
	return wrap("create registration token", err)
}

// RegisterApp implements oauthstore.Store.
func (s *Store) RegisterApp(ctx context.Context, r oauthstore.Registration) (partner.App, error) {
	app := reviewedAsItIs(r.App)
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if r.Token != nil {
			err := tx.one(ctx, `UPDATE partnerkit_registration_token SET used_at = $2
				WHERE digest = $1 AND used_at IS NULL AND expires_at > $2 RETURNING organization_id`, []any{r.Token.Bytes(), ms(r.Now)}, &app.OrganizationID)
			if err != nil {
				return notFound(err)
			}
		}
		if err := tx.roomForApp(ctx, app.OrganizationID, r.MaxApps); err != nil {
			return err
		}
		return tx.createApp(ctx, app, r.Secrets)
	})
	return app, wrap("register app", err)
}

// roomForApp locks an organization that has fewer apps than limit. Another app that is
// added at the same time waits for the lock, so that the count is right.
func (t *tx) roomForApp(ctx context.Context, organizationID string, limit int) error {
	if organizationID == "" || limit == 0 {
		return nil
	}
	if err := t.lockOrganization(ctx, organizationID); err != nil {
		return err
	}
	var has int
	if err := t.one(ctx, "SELECT COUNT(*) FROM partnerkit_app WHERE organization_id = $1 AND status <> 'DEACTIVATED'", []any{organizationID}, &has); err != nil {
		return err
	}
	if has >= limit {
		return oauthstore.ErrTooManyApps
	}
	return nil
}

// lockOrganization makes others that lock the organization wait until the transaction ends.
func (t *tx) lockOrganization(ctx context.Context, organizationID string) error {
	_, err := t.exec(ctx, "INSERT INTO partnerkit_organization (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET id = excluded.id", organizationID)
	return err
}

// SigningKeys implements oauthstore.Store.
func (s *Store) SigningKeys(ctx context.Context, now time.Time) ([]oauthstore.SigningKey, error) {
	var keys []oauthstore.SigningKey
	err := storage.Each(ctx, s, s.sql.of("SELECT id, sealed, created_at, active_at, retire_at FROM partnerkit_signing_key WHERE retire_at IS NULL OR retire_at > $1 ORDER BY active_at, id"), []any{ms(now)},
		func(scan func(...any) error) error {
			var key oauthstore.SigningKey
			var created, active int64
			var retire sql.NullInt64
			if err := scan(&key.ID, &key.Sealed, &created, &active, &retire); err != nil {
				return err
			}
			key.CreatedAt, key.ActiveAt, key.RetireAt = fromMS(created), fromMS(active), fromNullMS(retire)
			keys = append(keys, key)
			return nil
		})
	return keys, wrap("signing keys", err)
}

// ResealSigningKey implements oauthstore.Store.
func (s *Store) ResealSigningKey(ctx context.Context, keyID string, was, sealed []byte) error {
	_, err := s.exec(ctx, "UPDATE partnerkit_signing_key SET sealed = $3 WHERE id = $1 AND sealed = $2", keyID, was, sealed)
	return wrap("reseal signing key", err)
}

// AddSigningKey implements oauthstore.Store. The newest key has no end time; a
// conditional UPDATE that sets it succeeds for one rotation only. The first key is inserted
// by one node only.
func (s *Store) AddSigningKey(ctx context.Context, key oauthstore.SigningKey, after string, retireOlder time.Time) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if after != "" {
			n, err := tx.exec(ctx, "UPDATE partnerkit_signing_key SET retire_at = $2 WHERE id = $1 AND retire_at IS NULL", after, ms(retireOlder))
			if err := changedOne(n, err); err != nil {
				return err
			}
		}
		n, err := tx.exec(ctx, `INSERT INTO partnerkit_signing_key (id, sealed, created_at, active_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, key.ID, key.Sealed, ms(key.CreatedAt), ms(key.ActiveAt))
		return changedOne(n, err)
	})
	return wrap("add signing key", err)
}
