package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// HoldRequest implements oauthserver.RequestStore.
func (s *Store) HoldRequest(ctx context.Context, r oauthserver.AuthorizationRequest) error {
	_, err := s.exec(ctx, `INSERT INTO partnerkit_authorization_request
			(id, digest, browser, session, app_id, redirect_uri, scopes, state, code_challenge, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		r.ID, r.Digest.Bytes(), r.Browser.Bytes(), r.Session.Bytes(), r.AppID, r.RedirectURI, scopeList(r.Scopes), r.State, r.CodeChallenge, ms(r.CreatedAt), ms(r.ExpiresAt))
	return wrap("hold request", err)
}

// Request implements oauthserver.RequestStore.
func (s *Store) Request(ctx context.Context, digest oauthserver.Digest) (oauthserver.AuthorizationRequest, error) {
	r := oauthserver.AuthorizationRequest{Digest: digest}
	var scopes string
	var created, expires int64
	var used sql.NullInt64
	err := s.read(ctx, `SELECT id, browser, session, app_id, redirect_uri, scopes, state, code_challenge, created_at, expires_at, used_at
		FROM partnerkit_authorization_request WHERE digest = $1`, []any{digest.Bytes()},
		&r.ID, &r.Browser, &r.Session, &r.AppID, &r.RedirectURI, &scopes, &r.State, &r.CodeChallenge, &created, &expires, &used)
	if err != nil {
		return r, wrap("authorization request", notFound(err))
	}
	r.CreatedAt, r.ExpiresAt, r.UsedAt = fromMS(created), fromMS(expires), fromNullMS(used)
	return r, decoded(stored{scopes, &r.Scopes})
}

const useRequest = "UPDATE partnerkit_authorization_request SET used_at = $2 WHERE id = $1 AND used_at IS NULL AND expires_at > $2"

// DenyRequest implements oauthserver.RequestStore.
func (s *Store) DenyRequest(ctx context.Context, d oauthserver.Denial) error {
	return wrap("deny request", s.deny(ctx, d, useRequest))
}

// deny uses up what is denied, with the statement that does so while it is open.
func (s *Store) deny(ctx context.Context, d oauthserver.Denial, use string) error {
	return s.write(ctx, func(ctx context.Context, tx *tx) error {
		if err := changedOne(tx.exec(ctx, use, d.RequestID, ms(d.Now))); err != nil {
			return err
		}
		return tx.audit(ctx, d.Audit)
	})
}

// ApproveRequest implements oauthserver.RequestStore.
func (s *Store) ApproveRequest(ctx context.Context, a oauthserver.Approval, code oauthserver.NewCode) (oauthserver.Approved, error) {
	return s.approve(ctx, a, approvable{
		find: "SELECT app_id, scopes FROM partnerkit_authorization_request WHERE id = $1 AND used_at IS NULL AND expires_at > $2",
		use: func(ctx context.Context, tx *tx, done oauthserver.Approved) (int64, error) {
			n, err := tx.exec(ctx, useRequest, a.RequestID, ms(a.Now))
			if err != nil || n == 0 {
				return n, err
			}
			return tx.exec(ctx, `INSERT INTO partnerkit_code (id, digest, app_id, installation_id, grant_id, user_id, redirect_uri, code_challenge, scopes, created_at, expires_at)
				SELECT $2, $3, app_id, $4, $5, $6, redirect_uri, code_challenge, scopes, $7, $8 FROM partnerkit_authorization_request WHERE id = $1`,
				a.RequestID, code.ID, code.Digest.Bytes(), done.Installation.ID, done.Grant.ID, a.UserID, ms(a.Now), ms(code.ExpiresAt))
		},
	})
}

// ApproveDevice implements oauthserver.DeviceStore.
func (s *Store) ApproveDevice(ctx context.Context, a oauthserver.Approval) (oauthserver.Approved, error) {
	return s.approve(ctx, a, approvable{
		find: "SELECT app_id, scopes FROM partnerkit_device_code WHERE id = $1 AND status = 'PENDING' AND expires_at > $2",
		use: func(ctx context.Context, tx *tx, done oauthserver.Approved) (int64, error) {
			return tx.exec(ctx, `UPDATE partnerkit_device_code SET status = 'APPROVED', installation_id = $3, grant_id = $4, user_id = $5
				WHERE id = $1 AND status = 'PENDING' AND expires_at > $2`, a.RequestID, ms(a.Now), done.Installation.ID, done.Grant.ID, a.UserID)
		},
	})
}

// approvable is what an approval is about: how to find it while it is open, and
// the conditional write that uses it up.
type approvable struct {
	find string
	use  func(ctx context.Context, tx *tx, done oauthserver.Approved) (int64, error)
}

// approve takes its locks in the order app, installation, grant, artifact. What
// it did before it learnt that it came too late is rolled back.
func (s *Store) approve(ctx context.Context, a oauthserver.Approval, what approvable) (oauthserver.Approved, error) {
	var result oauthserver.Approved
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		result = oauthserver.Approved{Outcome: oauthserver.ApprovalNotOpen}
		var appID, asked string
		look := func() error {
			return stopped(notFound(tx.one(ctx, what.find, []any{a.RequestID, ms(a.Now)}, &appID, &asked)))
		}
		if err := look(); err != nil {
			return err
		}
		scopes, err := parseScopes(asked)
		if err != nil {
			return err
		}
		done, err := tx.connect(ctx, a, appID, scopes)
		if err != nil {
			return err
		}
		if done.Outcome != oauthserver.ApprovalDone {
			// It may have been used up while the lock was waited for, which comes first.
			if err := look(); err != nil {
				return err
			}
			result = done
			return errStop
		}
		n, err := what.use(ctx, tx, done)
		if err != nil {
			return err
		}
		if n == 0 {
			return errStop
		}
		result = done
		if err := tx.audit(ctx, a.Audit); err != nil {
			return err
		}
		return tx.record(ctx, a.Record(result))
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return result, wrap("approve", err)
}

// stopped ends the transaction without an error for the caller when there is
// nothing to act on.
func stopped(err error) error {
	if errors.Is(err, oauthserver.ErrNotFound) {
		return errStop
	}
	return err
}

// connect makes the installation and the consent, or adds the scopes to those
// that are there.
func (t *tx) connect(ctx context.Context, a oauthserver.Approval, appID string, scopes identity.Scopes) (oauthserver.Approved, error) {
	app, err := t.lockApp(ctx, appID, t.dialect.ForShare)
	if errors.Is(err, oauthserver.ErrNotFound) {
		return oauthserver.Approved{Outcome: oauthserver.ApprovalAppDead}, nil
	}
	if err != nil {
		return oauthserver.Approved{}, err
	}
	done := oauthserver.Approved{App: app, Outcome: a.Check(app)}
	if done.Outcome != oauthserver.ApprovalDone {
		return done, nil
	}
	var user oauthserver.UserStatus
	if err := t.one(ctx, "SELECT COALESCE((SELECT status FROM partnerkit_user_state WHERE user_id = $1), 'ACTIVE')", []any{a.UserID}, &user); err != nil {
		return done, err
	}
	if user != oauthserver.UserActive {
		done.Outcome = oauthserver.ApprovalUserDead
		return done, nil
	}
	if err := t.install(ctx, a, appID, scopes, &done); err != nil {
		return done, err
	}
	return done, t.consent(ctx, a, scopes, &done)
}

// install inserts an ACTIVE installation; the unique index says whether there
// was one, which is then locked and returned as it is.
func (t *tx) install(ctx context.Context, a oauthserver.Approval, appID string, scopes identity.Scopes, done *oauthserver.Approved) error {
	var row installationRow
	err := t.one(ctx, `INSERT INTO partnerkit_installation (id, app_id, business_id, status, scopes, created_at) VALUES ($1, $2, $3, 'ACTIVE', $4, $5)
		ON CONFLICT (app_id, business_id) WHERE status = 'ACTIVE' DO UPDATE SET scopes = partnerkit_installation.scopes RETURNING `+installationColumns,
		[]any{a.InstallationID, appID, a.BusinessID, scopeList(scopes), ms(a.Now)}, row.dest()...)
	if err != nil {
		return err
	}
	if done.Installation, err = row.value(); err != nil {
		return err
	}
	done.Installed = done.Installation.ID == a.InstallationID
	if done.Installed || done.Installation.Scopes.HasAll(scopes) {
		return nil
	}
	done.Widened = true
	done.Installation.Scopes = done.Installation.Scopes.Union(scopes)
	return t.setInstallationScopes(ctx, done.Installation)
}

// consent does the same for the user's grant.
func (t *tx) consent(ctx context.Context, a oauthserver.Approval, scopes identity.Scopes, done *oauthserver.Approved) error {
	grant := oauthserver.Grant{InstallationID: done.Installation.ID, UserID: a.UserID}
	var held string
	var created int64
	err := t.one(ctx, `INSERT INTO partnerkit_grant (id, installation_id, user_id, scopes, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (installation_id, user_id) WHERE ended_at IS NULL DO UPDATE SET scopes = partnerkit_grant.scopes RETURNING id, scopes, created_at`,
		[]any{a.GrantID, grant.InstallationID, grant.UserID, scopeList(scopes), ms(a.Now)}, &grant.ID, &held, &created)
	if err != nil {
		return err
	}
	if grant.Scopes, err = parseScopes(held); err != nil {
		return err
	}
	grant.CreatedAt = fromMS(created)
	if !grant.Scopes.HasAll(scopes) {
		grant.Scopes = grant.Scopes.Union(scopes)
		if _, err := t.exec(ctx, "UPDATE partnerkit_grant SET scopes = $2 WHERE id = $1", grant.ID, scopeList(grant.Scopes)); err != nil {
			return err
		}
	}
	done.Grant = grant
	return nil
}
