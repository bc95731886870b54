package sqlstore

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// approveCustom inserts the approval of a custom connection. If the unique index shows that
// there is one already, approveCustom replaces what it allows.
func (t *tx) approveCustom(ctx context.Context, d oauthstore.Decision, scopes identity.Scopes, done *oauthstore.Approved) error {
	grant := oauthstore.Grant{InstallationID: done.Installation.ID, Scopes: scopes, Permissions: d.Permissions}
	var created int64
	err := t.one(ctx, `INSERT INTO partnerkit_grant (id, installation_id, user_id, scopes, permissions, created_at) VALUES ($1, $2, '', $3, $4, $5)
		ON CONFLICT (installation_id, user_id) WHERE ended_at IS NULL DO UPDATE SET scopes = excluded.scopes, permissions = excluded.permissions RETURNING id, created_at`,
		[]any{d.GrantID, grant.InstallationID, scopes.String(), list(grant.Permissions), ms(d.Now)}, &grant.ID, &created)
	grant.CreatedAt = fromMS(created)
	done.Grant = grant
	return err
}

// NameCustomBusiness implements oauthstore.Store. The lock on the app keeps
// approvals and issues of tokens away, which lock it too.
func (s *Store) NameCustomBusiness(ctx context.Context, n oauthstore.NameCustomBusiness) (oauthstore.NamedCustomBusiness, error) {
	var named oauthstore.NamedCustomBusiness
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, next, err := tx.changeApp(ctx, n.AppID, n.Change)
		if err != nil {
			return err
		}
		named = oauthstore.NamedCustomBusiness{App: next}
		if next.CustomBusinessID != app.CustomBusinessID && app.CustomBusinessID != "" {
			if named.Uninstalled, err = tx.endCustom(ctx, app, n.End, next.CustomBusinessID == ""); err != nil {
				return err
			}
		}
		return tx.saveApp(ctx, next)
	})
	return named, wrap("name custom business", err)
}

// endCustom ends the custom connection of a locked app, if there is one and it may, and
// reports whether the installation ended with it.
func (t *tx) endCustom(ctx context.Context, app partner.App, end oauthstore.EndInstallation, may bool) (uninstalled bool, err error) { //nolint:revive // a result, not a switch
	var row installationRow
	if err := t.one(ctx, activeInstallation+t.dialect.ForUpdate, []any{app.ID, app.CustomBusinessID}, row.dest()...); err != nil {
		return false, present(err)
	}
	installation, err := row.value()
	if err != nil {
		return false, err
	}
	var own string
	if err := t.one(ctx, "SELECT id FROM partnerkit_grant WHERE installation_id = $1 AND user_id = '' AND ended_at IS NULL"+t.dialect.ForUpdate, []any{installation.ID}, &own); err != nil {
		return false, present(err)
	}
	if !may {
		return false, oauthstore.ErrConnectionExists
	}
	if _, err := t.exec(ctx, "UPDATE partnerkit_grant SET ended_at = $2 WHERE id = $1", own, ms(end.Now)); err != nil {
		return false, err
	}
	end.Audit.Target = installation.BusinessID
	if err := t.audit(ctx, end.Audit); err != nil {
		return false, err
	}
	var other string
	switch err := t.one(ctx, "SELECT id FROM partnerkit_grant WHERE installation_id = $1 AND ended_at IS NULL LIMIT 1", []any{installation.ID}, &other); {
	case err == nil:
		return false, nil // a person has connected the app too
	case !errors.Is(err, storage.ErrNoRows):
		return false, err
	}
	end.AppID, end.BusinessID, end.Status = installation.AppID, installation.BusinessID, partner.InstallationRemoved
	if installation, err = t.endInstallation(ctx, end); err != nil {
		return false, err
	}
	return true, t.record(ctx, end.Record(installation))
}

// CustomConnections implements oauthstore.Store.
func (s *Store) CustomConnections(ctx context.Context, installationIDs ...string) ([]oauthstore.Grant, error) {
	if len(installationIDs) == 0 {
		return nil, nil
	}
	var all []oauthstore.Grant
	err := storage.Each(ctx, s, s.sql.of("SELECT id, installation_id, scopes, permissions, created_at FROM partnerkit_grant WHERE user_id = '' AND ended_at IS NULL AND installation_id IN ("+
		places(0, len(installationIDs))+")"), anys(installationIDs),
		func(scan func(...any) error) error {
			var one oauthstore.Grant
			var scopes, permissions string
			var created int64
			err := scan(&one.ID, &one.InstallationID, &scopes, &permissions, &created)
			if err != nil {
				return err
			}
			one.CreatedAt = fromMS(created)
			if one.Permissions, err = parseList(permissions); err != nil {
				return err
			}
			all = append(all, one)
			return decoded(stored{scopes, &all[len(all)-1].Scopes})
		})
	return all, wrap("custom connections", err)
}

// customConnection finds and locks the custom connection of an app, in the order app,
// installation, grant.
const customConnection = `SELECT a.status, a.scopes, i.status, i.scopes, i.id, g.id, g.scopes FROM partnerkit_app a
	JOIN partnerkit_installation i ON i.app_id = a.id AND i.business_id = a.custom_business_id AND i.status = 'ACTIVE'
	JOIN partnerkit_grant g ON g.installation_id = i.id AND g.user_id = '' AND g.ended_at IS NULL WHERE a.id = $1`

// IssueForInstallation implements oauthstore.Store: 2 statements.
func (s *Store) IssueForInstallation(ctx context.Context, appID string, narrow identity.Scopes, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "issue installation token", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		of := parents{app: appID}
		var row lockedRow
		var approved string
		err := tx.one(ctx, customConnection+tx.dialect.ShareOf("a, i, g"), []any{appID},
			(*string)(&row.state.app), &row.appScopes, (*string)(&row.state.installation), &row.granted, &of.installation, &of.grant, &approved)
		if err != nil {
			return oauthstore.IssueResult{}, notFound(err)
		}
		state, err := row.decode()
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		scopes, err := parseScopes(approved)
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		issued := state.result(scopes, m)
		switch {
		case issued.Outcome != oauthstore.Issued:
			return issued, errStop
		case !issued.Scopes.HasAll(narrow):
			return oauthstore.IssueResult{Outcome: oauthstore.TooWide}, errStop
		case !narrow.IsEmpty():
			issued.Scopes = narrow
		}
		return issued, tx.insertAccess(ctx, of.owners(), nil, 0, issued.Scopes.String(), m)
	})
}
