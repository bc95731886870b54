package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const installationColumns = "id, app_id, business_id, status, scopes, created_at, ended_at"

type installationRow struct {
	installation partner.Installation
	scopes       string
	created      int64
	ended        sql.NullInt64
}

func (r *installationRow) dest() []any {
	i := &r.installation
	return []any{&i.ID, &i.AppID, &i.BusinessID, &i.Status, &r.scopes, &r.created, &r.ended}
}

func (r *installationRow) value() (partner.Installation, error) {
	r.installation.CreatedAt, r.installation.EndedAt = fromMS(r.created), fromNullMS(r.ended)
	return r.installation, decoded(stored{r.scopes, &r.installation.Scopes})
}

const activeInstallation = "SELECT " + installationColumns + " FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE'"

// ActiveInstallation returns the installation of an app in a business, for hosts;
// partner.ErrNotFound.
func (s *Store) ActiveInstallation(ctx context.Context, appID, businessID string) (partner.Installation, error) {
	found, err := s.Installations(ctx, partner.InstallationQuery{AppID: appID, BusinessID: businessID})
	if err == nil && len(found) == 0 {
		err = partner.ErrNotFound
	}
	if err != nil {
		return partner.Installation{}, wrap("installation", err)
	}
	return found[0], nil
}

// Installations implements oauthstore.Store.
func (s *Store) Installations(ctx context.Context, q partner.InstallationQuery) ([]partner.Installation, error) {
	query, args := "SELECT "+installationColumns+" FROM partnerkit_installation WHERE status = 'ACTIVE'", []any(nil)
	add := func(condition string, value any) {
		args = append(args, value)
		query += condition + " $" + strconv.Itoa(len(args))
	}
	if q.AppID != "" {
		add(" AND app_id =", q.AppID)
	}
	if q.BusinessID != "" {
		add(" AND business_id =", q.BusinessID)
	}
	if q.After != "" {
		add(" AND id >", q.After)
	}
	query += " ORDER BY id"
	if q.Limit > 0 {
		add(" LIMIT", q.Limit)
	}
	all, err := s.installations(ctx, query, args...)
	return all, wrap("installations", err)
}

// installations reads rows of installationColumns.
func (s *Store) installations(ctx context.Context, query string, args ...any) ([]partner.Installation, error) {
	var all []partner.Installation
	err := storage.Each(ctx, s, s.sql.of(query), args,
		func(scan func(...any) error) error {
			var row installationRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	return all, err
}

// BusinessInstallations implements consolestore.Store.
func (s *Store) BusinessInstallations(ctx context.Context, appID, afterBusinessID string, limit int) ([]partner.Installation, error) {
	all, err := s.installations(ctx, "SELECT "+installationColumns+` FROM partnerkit_installation AS shown
		WHERE app_id = $1 AND business_id > $2 AND NOT EXISTS (SELECT 1 FROM partnerkit_installation AS newer
			WHERE newer.app_id = shown.app_id AND newer.business_id = shown.business_id
			AND (newer.created_at, newer.id) > (shown.created_at, shown.id))
		ORDER BY business_id LIMIT $3`, appID, afterBusinessID, limit)
	return all, wrap("installations in businesses", err)
}

// EndInstallation implements oauthstore.Store. It marks the installation row, on
// which all its tokens depend, and waits for transactions that are issuing tokens under it.
func (s *Store) EndInstallation(ctx context.Context, end oauthstore.EndInstallation) (partner.Installation, error) {
	var ended partner.Installation
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		if ended, err = tx.endInstallation(ctx, end); err != nil {
			return err
		}
		if err := tx.audit(ctx, end.Audit); err != nil {
			return err
		}
		return tx.record(ctx, end.Record(ended))
	})
	return ended, wrap("end installation", err)
}

func (t *tx) endInstallation(ctx context.Context, end oauthstore.EndInstallation) (partner.Installation, error) {
	var row installationRow
	err := t.one(ctx, `UPDATE partnerkit_installation SET status = $3, ended_at = $4, redact_at = $5
		WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE' RETURNING `+installationColumns,
		[]any{end.AppID, end.BusinessID, string(end.Status), ms(end.Now), ms(end.RedactAt)}, row.dest()...)
	if err != nil {
		return partner.Installation{}, notFound(err)
	}
	return row.value()
}

// SetInstallationScopes implements oauthstore.Store.
func (s *Store) SetInstallationScopes(ctx context.Context, appID, businessID string, scopes identity.Scopes, record func(before, after partner.Installation) []partner.Event) (partner.Installation, error) {
	var after partner.Installation
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var row installationRow
		if err := tx.one(ctx, activeInstallation+tx.dialect.ForUpdate, []any{appID, businessID}, row.dest()...); err != nil {
			return notFound(err)
		}
		before, err := row.value()
		if err != nil {
			return err
		}
		after = before
		after.Scopes = scopes
		if err := tx.setInstallationScopes(ctx, after); err != nil {
			return err
		}
		return tx.record(ctx, record(before, after))
	})
	return after, wrap("set installation scopes", err)
}

func (t *tx) setInstallationScopes(ctx context.Context, i partner.Installation) error {
	_, err := t.exec(ctx, "UPDATE partnerkit_installation SET scopes = $2 WHERE id = $1", i.ID, i.Scopes.String())
	return err
}

// EndGrant implements oauthstore.Store.
func (s *Store) EndGrant(ctx context.Context, end oauthstore.EndGrant) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		n, err := tx.exec(ctx, `UPDATE partnerkit_grant SET ended_at = $4 WHERE user_id = $3 AND ended_at IS NULL AND installation_id IN (
				SELECT id FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE')`,
			end.AppID, end.BusinessID, end.UserID, ms(end.Now))
		if err := changedOne(n, err); err != nil {
			return err
		}
		return tx.audit(ctx, end.Audit)
	})
	return wrap("end grant", err)
}

const setUserStatus = `INSERT INTO partnerkit_user_state (user_id, status, changed_at) VALUES ($1, $2, $3)
	ON CONFLICT (user_id) DO UPDATE SET status = excluded.status, changed_at = excluded.changed_at`

// SetUserStatus implements oauthstore.Store.
func (s *Store) SetUserStatus(ctx context.Context, userID string, status identity.UserStatus, now time.Time) error {
	_, err := s.exec(ctx, setUserStatus, userID, string(status), ms(now))
	return wrap("set user status", err)
}

const userStatusOf = "SELECT COALESCE((SELECT status FROM partnerkit_user_state WHERE user_id = $1), 'ACTIVE')"

// UserStatus implements oauthstore.Store.
func (s *Store) UserStatus(ctx context.Context, userID string) (identity.UserStatus, error) {
	var status identity.UserStatus
	err := s.read(ctx, userStatusOf, []any{userID}, &status)
	return status, wrap("user status", err)
}
