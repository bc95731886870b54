package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// ImportApp implements oauthstore.Store.
func (s *Store) ImportApp(ctx context.Context, app partner.App, secrets []partner.ClientSecret, foreign []oauthstore.ForeignSecret) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if err := tx.createApp(ctx, app, secrets); err != nil {
			return err
		}
		for _, one := range foreign {
			if _, err := tx.exec(ctx, "INSERT INTO partnerkit_foreign_secret (secret_id, app_id, digest) VALUES ($1, $2, $3)", one.SecretID, app.ID, one.Digest); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("import app", err)
}

// ForeignSecrets implements oauthstore.Store.
func (s *Store) ForeignSecrets(ctx context.Context, appID string) ([]oauthstore.ForeignSecret, error) {
	var all []oauthstore.ForeignSecret
	err := storage.Each(ctx, s, s.sql.of(`SELECT f.secret_id, f.digest FROM partnerkit_foreign_secret f JOIN partnerkit_client_secret c ON c.id = f.secret_id
		WHERE f.app_id = $1 AND c.revoked_at IS NULL ORDER BY f.secret_id`), []any{appID}, func(scan func(...any) error) error {
		var one oauthstore.ForeignSecret
		err := scan(&one.SecretID, &one.Digest)
		all = append(all, one)
		return err
	})
	return all, wrap("foreign secrets", err)
}

// ReplaceForeignSecret implements oauthstore.Store. Deleting the row of the foreign digest
// selects the one transaction that replaces it.
func (s *Store) ReplaceForeignSecret(ctx context.Context, appID, secretID string, digest storage.Digest) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.strs(ctx, "SELECT id FROM partnerkit_app WHERE id = $1"+tx.dialect.ForUpdate, appID); err != nil {
			return err
		}
		n, err := tx.exec(ctx, "DELETE FROM partnerkit_foreign_secret WHERE secret_id = $1 AND app_id = $2", secretID, appID)
		if err != nil || n == 0 {
			return err
		}
		if _, err := tx.exec(ctx, "UPDATE partnerkit_client_secret SET digest = $2 WHERE id = $1", secretID, digest.Bytes()); err != nil {
			return err
		}
		return tx.noteSecrets(ctx, appID)
	})
	return wrap("replace foreign secret", err)
}

// importedApp locks an app that is imported into, so that of two imports of one record the second
// sees the first.
func (t *tx) importedApp(ctx context.Context, clientID string) (id string, err error) {
	err = t.one(ctx, "SELECT id FROM partnerkit_app WHERE client_id = $1 AND status <> 'DEACTIVATED'"+t.dialect.ForUpdate, []any{clientID}, &id)
	return id, notFound(err)
}

// ImportInstallation implements oauthstore.Store.
func (s *Store) ImportInstallation(ctx context.Context, clientID string, i partner.Installation) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		appID, err := tx.importedApp(ctx, clientID)
		if err != nil {
			return err
		}
		var status string
		err = tx.one(ctx, "SELECT status FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 ORDER BY status LIMIT 1", []any{appID, i.BusinessID}, &status)
		switch {
		case errors.Is(err, storage.ErrNoRows):
		case err != nil:
			return err
		case status == string(partner.InstallationActive):
			return oauthstore.ErrExists
		default:
			return oauthstore.ErrEnded
		}
		_, err = tx.exec(ctx, "INSERT INTO partnerkit_installation (id, app_id, business_id, status, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
			i.ID, appID, i.BusinessID, string(i.Status), i.Scopes.String(), ms(i.CreatedAt))
		return err
	})
	return wrap("import installation", err)
}

// ImportConsent implements oauthstore.Store.
func (s *Store) ImportConsent(ctx context.Context, clientID, businessID string, g oauthstore.Grant) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		appID, err := tx.importedApp(ctx, clientID)
		if err != nil {
			return err
		}
		var installation string
		err = tx.one(ctx, "SELECT id FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE'"+tx.dialect.ForUpdate, []any{appID, businessID}, &installation)
		if err != nil {
			return notFound(err)
		}
		var alive, all int
		err = tx.one(ctx, "SELECT COALESCE(SUM(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END), 0), COUNT(*) FROM partnerkit_grant WHERE installation_id = $1 AND user_id = $2",
			[]any{installation, g.UserID}, &alive, &all)
		switch {
		case err != nil:
			return err
		case alive > 0:
			return oauthstore.ErrExists
		case all > 0:
			return oauthstore.ErrEnded
		}
		_, err = tx.exec(ctx, "INSERT INTO partnerkit_grant (id, installation_id, user_id, scopes, created_at) VALUES ($1, $2, $3, $4, $5)",
			g.ID, installation, g.UserID, g.Scopes.String(), ms(g.CreatedAt))
		return err
	})
	return wrap("import consent", err)
}

// EndForeignFamily implements oauthstore.Store.
func (s *Store) EndForeignFamily(ctx context.Context, use oauthstore.ForeignUse, now time.Time) (oauthstore.ForeignFamily, error) {
	var family string
	var found oauthstore.ForeignFamily
	err := s.read(ctx, `SELECT t.family_id, COALESCE(i.business_id, ''), COALESCE(f.user_id, '') FROM partnerkit_foreign_token t
		LEFT JOIN partnerkit_family f ON f.id = t.family_id LEFT JOIN partnerkit_installation i ON i.id = f.installation_id
		WHERE t.digest = $1 AND t.app_id = $2`, []any{use.Digest.Bytes(), use.AppID}, &family, &found.BusinessID, &found.UserID)
	if err != nil {
		return found, wrap("end foreign family", notFound(err))
	}
	n, err := s.exec(ctx, "UPDATE partnerkit_family SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", family, ms(now))
	found.HadEnded = n == 0
	return found, wrap("end foreign family", err)
}

// RedeemForeign implements oauthstore.Store. The row of the digest selects the one
// transaction that uses the token.
func (s *Store) RedeemForeign(ctx context.Context, use oauthstore.ForeignUse, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "redeem foreign token", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		of := parents{app: use.AppID, user: use.UserID}
		err := tx.one(ctx, `SELECT i.id, g.id FROM partnerkit_installation i JOIN partnerkit_grant g ON g.installation_id = i.id AND g.ended_at IS NULL
			WHERE i.app_id = $1 AND i.business_id = $2 AND i.status = 'ACTIVE' AND g.user_id = $3`, []any{use.AppID, use.BusinessID, use.UserID}, &of.installation, &of.grant)
		if err != nil {
			return oauthstore.IssueResult{}, notFound(err)
		}
		state, won, err := tx.use(ctx, of, "INSERT INTO partnerkit_foreign_token (digest, app_id, family_id, used_at) VALUES ($1, $2, $3, $4) ON CONFLICT (digest) DO NOTHING",
			use.Digest.Bytes(), use.AppID, m.FamilyID, ms(m.Now))
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		if !won {
			_, err := tx.exec(ctx, `UPDATE partnerkit_family SET ended_at = $2 WHERE ended_at IS NULL
				AND id = (SELECT family_id FROM partnerkit_foreign_token WHERE digest = $1 AND app_id = $3)`, use.Digest.Bytes(), ms(m.Now), use.AppID)
			return oauthstore.IssueResult{Outcome: oauthstore.Lost}, err
		}
		issued := state.result(use.Scopes, m)
		if issued.Outcome != oauthstore.Issued {
			return issued, errStop
		}
		family := issued.Scopes
		if !use.Narrow.IsEmpty() {
			issued.Scopes = issued.Scopes.Intersect(use.Narrow)
		}
		if issued.Scopes.IsEmpty() {
			issued.Outcome = oauthstore.TooWide
			return issued, errStop
		}
		if err := tx.later(ctx, insertFamily+" ($1, $2, $3, $4, $5, $6, $7)", familyRow(of.owners(), m.FamilyID, family.String())...); err != nil {
			return issued, err
		}
		return issued, tx.insertTokens(ctx, of.owners(), m.FamilyID, 1, issued.Scopes.String(), m)
	})
}
