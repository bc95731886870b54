package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/storage"
)

// Grants implements oauthstore.Store.
func (s *Store) Grants(ctx context.Context, businessID, appID string) ([]oauthstore.Grant, error) {
	query, args := `SELECT g.id, g.installation_id, g.user_id, g.scopes, g.created_at, g.left_at
		FROM partnerkit_installation i JOIN partnerkit_grant g ON g.installation_id = i.id
		WHERE i.business_id = $1 AND i.status = 'ACTIVE' AND g.ended_at IS NULL AND g.user_id <> ''`, []any{businessID}
	if appID != "" {
		query, args = query+" AND i.app_id = $2", append(args, appID)
	}
	var all []oauthstore.Grant
	err := storage.Each(ctx, s, s.sql.of(query+" ORDER BY g.id"), args, func(scan func(...any) error) error {
		var g oauthstore.Grant
		var scopes string
		var created int64
		var left sql.NullInt64
		if err := scan(&g.ID, &g.InstallationID, &g.UserID, &scopes, &created, &left); err != nil {
			return err
		}
		g.CreatedAt, g.LeftAt = fromMS(created), fromNullMS(left)
		err := decoded(stored{scopes, &g.Scopes})
		all = append(all, g)
		return err
	})
	return all, wrap("grants", err)
}

const (
	grantsOfMember = ` WHERE user_id = $2 AND ended_at IS NULL AND installation_id IN (
		SELECT id FROM partnerkit_installation WHERE business_id = $1 AND status = 'ACTIVE')`

	grantsStay  = "UPDATE partnerkit_grant SET left_at = NULL" + grantsOfMember + " AND left_at IS NOT NULL"
	grantsLeave = "UPDATE partnerkit_grant SET left_at = $3" + grantsOfMember + ` AND left_at IS NULL
		RETURNING (SELECT a.id FROM partnerkit_installation i JOIN partnerkit_app a ON a.id = i.app_id
			WHERE i.id = installation_id AND a.type = 'CONFIDENTIAL' AND a.status <> 'DEACTIVATED')`
)

// SetMembership implements oauthstore.Store.
func (s *Store) SetMembership(ctx context.Context, m oauthstore.Membership) ([]string, error) {
	if !m.HasLeft {
		_, err := s.exec(ctx, grantsStay, m.BusinessID, m.UserID)
		return nil, wrap("set membership", err)
	}
	var apps []string
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		apps = nil
		return storage.Each(ctx, tx.on, tx.sql.of(grantsLeave), []any{m.BusinessID, m.UserID, ms(m.Now)}, func(scan func(...any) error) error {
			var app sql.NullString
			err := scan(&app)
			if app.Valid {
				apps = append(apps, app.String)
			}
			return err
		})
	})
	slices.Sort(apps)
	return apps, wrap("set membership", err)
}

// TakeOver implements oauthstore.Store. It rolls back what it did if it ends other
// than with ApprovalDone.
func (s *Store) TakeOver(ctx context.Context, t oauthstore.TakeOver) (oauthstore.ApprovalOutcome, error) {
	var outcome oauthstore.ApprovalOutcome
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		if outcome, err = tx.takeOver(ctx, t); err != nil {
			return err
		}
		if outcome != oauthstore.ApprovalDone {
			return errStop
		}
		return tx.audit(ctx, t.Audit)
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return outcome, wrap("take over", err)
}

// takeOver takes its locks in the order app, installation, grants, families, artifacts. The
// lock on the app keeps the taker from being erased meanwhile (see eraseSteps), and that on the
// installation keeps anything from being issued or taken over in it.
func (t *tx) takeOver(ctx context.Context, d oauthstore.TakeOver) (oauthstore.ApprovalOutcome, error) {
	app, err := t.lockApp(ctx, d.AppID, t.dialect.ForShare)
	if err != nil {
		return "", err
	}
	user, err := t.userStatus(ctx, d.UserID)
	if err != nil {
		return "", err
	}
	var row installationRow
	if err := t.one(ctx, activeInstallation+t.dialect.ForUpdate, []any{d.AppID, d.BusinessID}, row.dest()...); err != nil {
		return "", notFound(err)
	}
	installed, err := row.value()
	if err != nil {
		return "", err
	}
	left, err := t.endGrantsOf(ctx, d, installed.ID)
	if err != nil {
		return "", err
	}
	var scopes identity.Scopes
	for _, g := range left {
		scopes = scopes.Union(g.Scopes)
	}
	outcome := d.Check(app, scopes.Intersect(app.Scopes).Intersect(installed.Scopes))
	switch {
	case len(left) == 0:
		outcome = oauthstore.ApprovalNobodyLeft
	case outcome == oauthstore.ApprovalDone && user != identity.UserActive:
		outcome = oauthstore.ApprovalUserDead
	}
	if d.RequestID != "" {
		n, err := t.exec(ctx, useRequest, d.RequestID, ms(d.Now))
		if err != nil {
			return "", err
		}
		if n == 0 {
			return oauthstore.ApprovalNotOpen, nil
		}
	}
	if outcome != oauthstore.ApprovalDone {
		return outcome, nil
	}
	to, err := t.addGrant(ctx, oauthstore.Grant{ID: d.GrantID, InstallationID: installed.ID, UserID: d.UserID, Scopes: scopes, CreatedAt: d.Now})
	if err != nil {
		return "", err
	}
	for _, from := range left {
		if err := t.moveFamilies(ctx, from, to, ms(d.Now)); err != nil {
			return "", err
		}
	}
	return outcome, nil
}

// endGrantsOf ends the grants of the users who have left and returns them. The conditional
// write finds each grant once.
func (t *tx) endGrantsOf(ctx context.Context, d oauthstore.TakeOver, installationID string) ([]oauthstore.Grant, error) {
	var ended []oauthstore.Grant
	for _, user := range d.From {
		g := oauthstore.Grant{InstallationID: installationID, UserID: user}
		var scopes string
		err := t.one(ctx, "UPDATE partnerkit_grant SET ended_at = $3 WHERE installation_id = $1 AND user_id = $2 AND ended_at IS NULL RETURNING id, scopes",
			[]any{installationID, user, ms(d.Now)}, &g.ID, &scopes)
		if errors.Is(err, storage.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if g.Scopes, err = parseScopes(scopes); err != nil {
			return nil, err
		}
		ended = append(ended, g)
	}
	return ended, nil
}

// moveFamilies gives the families of a grant that has just ended to another one, and ends the
// exchanged tokens of its user. Families that ended before, or whose grant did, stay ended.
func (t *tx) moveFamilies(ctx context.Context, from, to oauthstore.Grant, now int64) error {
	const ofUser = " WHERE installation_id = $1 AND user_id = $2 AND "
	for _, move := range []struct {
		statement string
		more      []any
	}{
		{"UPDATE partnerkit_family SET grant_id = $3, user_id = $4" + ofUser + "ended_at IS NULL AND grant_id = $5", []any{to.ID, to.UserID, from.ID}},
		{"UPDATE partnerkit_family SET ended_at = $3" + ofUser + "ended_at IS NULL AND grant_id IS NULL", []any{now}},
		{"UPDATE partnerkit_access_token SET revoked_at = $3" + ofUser + "family_id IS NULL AND revoked_at IS NULL", []any{now}},
	} {
		if _, err := t.exec(ctx, move.statement, append([]any{from.InstallationID, from.UserID}, move.more...)...); err != nil {
			return err
		}
	}
	return nil
}

// userStatus is UserStatus in a transaction.
func (t *tx) userStatus(ctx context.Context, userID string) (status identity.UserStatus, err error) {
	err = t.one(ctx, userStatusOf, []any{userID}, &status)
	return status, err
}
