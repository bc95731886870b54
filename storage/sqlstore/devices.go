package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// CreateDevice implements oauthstore.Store.
func (s *Store) CreateDevice(ctx context.Context, d oauthstore.DeviceCode, digest storage.Digest) error {
	n, err := s.exec(ctx, `INSERT INTO partnerkit_device_code (id, digest, user_code, app_id, scopes, status, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (user_code) DO NOTHING`,
		d.ID, digest.Bytes(), d.UserCode, d.AppID, d.Scopes.String(), string(oauthstore.DevicePending), ms(d.CreatedAt), ms(d.ExpiresAt))
	if err == nil && n == 0 {
		err = oauthstore.ErrTaken
	}
	return wrap("create device code", err)
}

// Device implements oauthstore.Store.
func (s *Store) Device(ctx context.Context, digest storage.Digest) (oauthstore.DeviceCode, error) {
	return s.deviceWhere(ctx, "x.digest = $1", digest.Bytes())
}

// DeviceByUserCode implements oauthstore.Store.
func (s *Store) DeviceByUserCode(ctx context.Context, userCode string) (oauthstore.DeviceCode, error) {
	return s.deviceWhere(ctx, "x.user_code = $1", userCode)
}

func (s *Store) deviceWhere(ctx context.Context, condition string, value any) (oauthstore.DeviceCode, error) {
	var d oauthstore.DeviceCode
	var appScopes, scopes string
	var installation, business, status, installed, grant, user sql.NullString
	var grantEnded sql.NullInt64
	var created, expires int64
	err := s.read(ctx, `SELECT a.id, a.client_id, a.status, a.scopes, i.id, i.business_id, i.status, i.scopes, g.id, g.ended_at, x.user_id,
			COALESCE(u.status, 'ACTIVE'), x.id, x.user_code, x.scopes, x.status, x.created_at, x.expires_at
		FROM partnerkit_device_code x JOIN partnerkit_app a ON a.id = x.app_id
		LEFT JOIN partnerkit_installation i ON i.id = x.installation_id
		LEFT JOIN partnerkit_grant g ON g.id = x.grant_id
		LEFT JOIN partnerkit_user_state u ON u.user_id = x.user_id WHERE `+condition, []any{value},
		&d.AppID, &d.ClientID, &d.AppStatus, &appScopes, &installation, &business, &status, &installed, &grant, &grantEnded, &user,
		&d.UserStatus, &d.ID, &d.UserCode, &scopes, &d.Status, &created, &expires)
	if err != nil {
		return d, wrap("device code", notFound(err))
	}
	d.InstallationID, d.BusinessID, d.InstallationStatus = installation.String, business.String, partner.InstallationStatus(status.String)
	d.GrantID, d.GrantEnded, d.UserID = grant.String, grantEnded.Valid, user.String
	d.CreatedAt, d.ExpiresAt = fromMS(created), fromMS(expires)
	return d, decoded(stored{appScopes, &d.AppScopes}, stored{installed.String, &d.InstallationScopes}, stored{scopes, &d.Scopes})
}

// PollDevice implements oauthstore.Store.
func (s *Store) PollDevice(ctx context.Context, deviceID string, now time.Time, interval time.Duration) (bool, error) {
	n, err := s.exec(ctx, `UPDATE partnerkit_device_code SET polled_at = $2
		WHERE id = $1 AND status = 'PENDING' AND (polled_at IS NULL OR polled_at <= $3)`, deviceID, ms(now), ms(now.Add(-interval)))
	return n > 0, wrap("poll device code", err)
}
