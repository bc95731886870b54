package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// HoldRequest implements oauthstore.Store. A lock on the oldest request of the session
// makes two calls take turns: ids sort by time, so a request that is added meanwhile is never
// the oldest, and the DELETE sees the requests that were committed while the lock was waited for.
func (s *Store) HoldRequest(ctx context.Context, r oauthstore.AuthorizationRequest) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		n, err := tx.exec(ctx, `INSERT INTO partnerkit_authorization_request
				(id, digest, browser, session, app_id, redirect_uri, scopes, code_challenge, created_at, expires_at, state, purpose, business_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (digest) DO NOTHING`,
			r.ID, r.Digest.Bytes(), r.Browser.Bytes(), r.Session.Bytes(), r.AppID, r.RedirectURI, r.Scopes.String(), r.CodeChallenge, ms(r.CreatedAt), ms(r.ExpiresAt), r.State, string(r.Purpose), r.BusinessID)
		if err != nil || n == 0 || r.Session == (storage.Digest{}) {
			return err
		}
		var oldest string
		err = tx.one(ctx, "SELECT id FROM partnerkit_authorization_request WHERE session = $1 AND used_at IS NULL AND id <> $2 ORDER BY id LIMIT 1"+tx.dialect.ForUpdate,
			[]any{r.Session.Bytes(), r.ID}, &oldest)
		if err != nil {
			return present(err) // it is the only one
		}
		_, err = tx.exec(ctx, `DELETE FROM partnerkit_authorization_request WHERE id IN (SELECT id FROM partnerkit_authorization_request
			WHERE session = $1 AND used_at IS NULL ORDER BY id DESC LIMIT $2 OFFSET $2)`, r.Session.Bytes(), oauthstore.MaxOpenRequests)
		return err
	})
	return wrap("hold request", err)
}

// Request implements oauthstore.Store.
func (s *Store) Request(ctx context.Context, digest storage.Digest) (oauthstore.AuthorizationRequest, error) {
	r := oauthstore.AuthorizationRequest{Digest: digest}
	var scopes string
	var created, expires int64
	var used sql.NullInt64
	err := s.read(ctx, `SELECT id, purpose, business_id, browser, session, app_id, redirect_uri, scopes, state, code_challenge, created_at, expires_at, used_at
		FROM partnerkit_authorization_request WHERE digest = $1`, []any{digest.Bytes()},
		&r.ID, &r.Purpose, &r.BusinessID, &r.Browser, &r.Session, &r.AppID, &r.RedirectURI, &scopes, &r.State, &r.CodeChallenge, &created, &expires, &used)
	if err != nil {
		return r, wrap("authorization request", notFound(err))
	}
	r.CreatedAt, r.ExpiresAt, r.UsedAt = fromMS(created), fromMS(expires), fromNullMS(used)
	return r, decoded(stored{scopes, &r.Scopes})
}

const useRequest = "UPDATE partnerkit_authorization_request SET used_at = $2, state = NULL WHERE id = $1 AND used_at IS NULL AND expires_at > $2"

// DecideRequest implements oauthstore.Store.
func (s *Store) DecideRequest(ctx context.Context, d oauthstore.Decision) (oauthstore.Approved, error) {
	return s.decide(ctx, d, decidable{
		deny: useRequest,
		find: "SELECT app_id, scopes FROM partnerkit_authorization_request WHERE id = $1 AND purpose <> 'take over' AND used_at IS NULL AND expires_at > $2",
		use: func(ctx context.Context, tx *tx, done oauthstore.Approved) (int64, error) {
			n, err := tx.exec(ctx, useRequest, d.RequestID, ms(d.Now))
			if err != nil || n == 0 || d.ForInstallation {
				return n, err
			}
			return tx.exec(ctx, `INSERT INTO partnerkit_code (id, digest, app_id, installation_id, grant_id, user_id, redirect_uri, code_challenge, scopes, created_at, expires_at)
				SELECT $2, $3, app_id, $4, $5, $6, redirect_uri, code_challenge, scopes, $7, $8 FROM partnerkit_authorization_request WHERE id = $1`,
				d.RequestID, d.Code.ID, d.Code.Digest.Bytes(), done.Installation.ID, done.Grant.ID, d.UserID, ms(d.Now), ms(d.Code.ExpiresAt))
		},
	})
}

// DecideDevice implements oauthstore.Store.
func (s *Store) DecideDevice(ctx context.Context, d oauthstore.Decision) (oauthstore.Approved, error) {
	return s.decide(ctx, d, decidable{
		deny: "UPDATE partnerkit_device_code SET status = 'DENIED' WHERE id = $1 AND status = 'PENDING' AND expires_at > $2",
		find: "SELECT app_id, scopes FROM partnerkit_device_code WHERE id = $1 AND status = 'PENDING' AND expires_at > $2",
		use: func(ctx context.Context, tx *tx, done oauthstore.Approved) (int64, error) {
			return tx.exec(ctx, `UPDATE partnerkit_device_code SET status = 'APPROVED', installation_id = $3, grant_id = $4, user_id = $5
				WHERE id = $1 AND status = 'PENDING' AND expires_at > $2`, d.RequestID, ms(d.Now), done.Installation.ID, done.Grant.ID, d.UserID)
		},
	})
}

// decidable is the subject of a decision: the conditional write that denies it, how to find
// it while it is open, and the conditional write that an approval uses it up with.
type decidable struct {
	deny string
	find string
	use  func(ctx context.Context, tx *tx, done oauthstore.Approved) (int64, error)
}

// decide rolls back what it did before it learnt that it came too late.
func (s *Store) decide(ctx context.Context, d oauthstore.Decision, what decidable) (oauthstore.Approved, error) {
	var result oauthstore.Approved
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		decide := tx.approve
		if d.IsDenied {
			decide = tx.deny
		}
		if result, err = decide(ctx, d, what); err != nil {
			return err
		}
		if result.Outcome != oauthstore.ApprovalDone {
			return errStop
		}
		if err := tx.audit(ctx, d.Audit); err != nil || d.IsDenied {
			return err
		}
		return tx.record(ctx, d.Record(result))
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return result, wrap("decide", err)
}

func (t *tx) deny(ctx context.Context, d oauthstore.Decision, what decidable) (oauthstore.Approved, error) {
	n, err := t.exec(ctx, what.deny, d.RequestID, ms(d.Now))
	if err != nil || n == 0 {
		return oauthstore.Approved{Outcome: oauthstore.ApprovalNotOpen}, err
	}
	return oauthstore.Approved{Outcome: oauthstore.ApprovalDone}, nil
}

// approve takes its locks in the order app, installation, grant, artifact.
func (t *tx) approve(ctx context.Context, d oauthstore.Decision, what decidable) (oauthstore.Approved, error) {
	notOpen := oauthstore.Approved{Outcome: oauthstore.ApprovalNotOpen}
	var appID, asked string
	look := func() error { return t.one(ctx, what.find, []any{d.RequestID, ms(d.Now)}, &appID, &asked) }
	if err := look(); err != nil {
		return notOpen, present(err)
	}
	scopes, err := parseScopes(asked)
	if err != nil {
		return notOpen, err
	}
	done, err := t.connect(ctx, d, appID, scopes)
	if err != nil {
		return notOpen, err
	}
	if done.Outcome != oauthstore.ApprovalDone {
		// It may have been used up while the lock was waited for, which comes first.
		if err := look(); err != nil {
			return notOpen, present(err)
		}
		return done, nil
	}
	n, err := what.use(ctx, t, done)
	if err != nil || n == 0 {
		return notOpen, err
	}
	return done, nil
}

// present returns err, or nil if err means that there was no row.
func present(err error) error {
	if errors.Is(err, storage.ErrNoRows) {
		return nil
	}
	return err
}

// connect makes the installation and the consent, or adds the scopes to those
// that are there.
func (t *tx) connect(ctx context.Context, d oauthstore.Decision, appID string, scopes identity.Scopes) (oauthstore.Approved, error) {
	lock := t.dialect.ForShare
	if d.MaxConnections > 0 { // approvals take turns, so that each counts those before it
		lock = t.dialect.ForUpdate
	}
	app, err := t.lockApp(ctx, appID, lock)
	if errors.Is(err, partner.ErrNotFound) {
		return oauthstore.Approved{Outcome: oauthstore.ApprovalAppDead}, nil
	}
	if err != nil {
		return oauthstore.Approved{}, err
	}
	done := oauthstore.Approved{App: app, Outcome: d.Check(app)}
	if done.Outcome != oauthstore.ApprovalDone {
		return done, nil
	}
	user, err := t.userStatus(ctx, d.UserID)
	if err != nil {
		return done, err
	}
	if user != identity.UserActive {
		done.Outcome = oauthstore.ApprovalUserDead
		return done, nil
	}
	if isFull, err := t.isFull(ctx, d, appID); err != nil || isFull {
		done.Outcome = oauthstore.ApprovalFull
		return done, err
	}
	if err := t.install(ctx, d, appID, scopes, &done); err != nil {
		return done, err
	}
	if d.ForInstallation {
		return done, t.approveCustom(ctx, d, scopes, &done)
	}
	return done, t.consent(ctx, d, scopes, &done)
}

// isFull reports whether the app, which is locked, may not be connected to a further business.
func (t *tx) isFull(ctx context.Context, d oauthstore.Decision, appID string) (bool, error) {
	if d.MaxConnections == 0 || d.OwnSandbox {
		return false, nil
	}
	var counted, here int
	err := t.one(ctx, `SELECT COUNT(CASE WHEN own_sandbox THEN NULL ELSE 1 END), COUNT(CASE WHEN business_id = $2 THEN 1 END)
		FROM partnerkit_installation WHERE app_id = $1 AND status = 'ACTIVE'`, []any{appID, d.BusinessID}, &counted, &here)
	return here == 0 && counted >= d.MaxConnections, err
}

// install inserts an ACTIVE installation. If the unique index shows that there is one
// already, install locks it and adds the missing scopes.
func (t *tx) install(ctx context.Context, d oauthstore.Decision, appID string, scopes identity.Scopes, done *oauthstore.Approved) error {
	var row installationRow
	err := t.one(ctx, `INSERT INTO partnerkit_installation (id, app_id, business_id, status, scopes, created_at, own_sandbox) VALUES ($1, $2, $3, 'ACTIVE', $4, $5, $6)
		ON CONFLICT (app_id, business_id) WHERE status = 'ACTIVE' DO UPDATE SET scopes = partnerkit_installation.scopes RETURNING `+installationColumns,
		[]any{d.InstallationID, appID, d.BusinessID, scopes.String(), ms(d.Now), d.OwnSandbox}, row.dest()...)
	if err != nil {
		return err
	}
	if done.Installation, err = row.value(); err != nil {
		return err
	}
	done.Installed = done.Installation.ID == d.InstallationID
	if done.Installed || done.Installation.Scopes.HasAll(scopes) {
		return nil
	}
	done.Widened = true
	done.Installation.Scopes = done.Installation.Scopes.Union(scopes)
	return t.setInstallationScopes(ctx, done.Installation)
}

// consent does the same for the user's grant.
func (t *tx) consent(ctx context.Context, d oauthstore.Decision, scopes identity.Scopes, done *oauthstore.Approved) (err error) {
	done.Grant, err = t.addGrant(ctx, oauthstore.Grant{ID: d.GrantID, InstallationID: done.Installation.ID, UserID: d.UserID, Scopes: scopes, CreatedAt: d.Now})
	return err
}

// addGrant inserts a grant of a member of the business. If the user has one already, it adds
// the missing scopes to that one.
func (t *tx) addGrant(ctx context.Context, grant oauthstore.Grant) (oauthstore.Grant, error) {
	var held string
	var created int64
	err := t.one(ctx, `INSERT INTO partnerkit_grant (id, installation_id, user_id, scopes, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (installation_id, user_id) WHERE ended_at IS NULL DO UPDATE SET left_at = NULL RETURNING id, scopes, created_at`,
		[]any{grant.ID, grant.InstallationID, grant.UserID, grant.Scopes.String(), ms(grant.CreatedAt)}, &grant.ID, &held, &created)
	if err != nil {
		return grant, err
	}
	wanted := grant.Scopes
	if grant.Scopes, err = parseScopes(held); err != nil {
		return grant, err
	}
	grant.CreatedAt = fromMS(created)
	if !grant.Scopes.HasAll(wanted) {
		grant.Scopes = grant.Scopes.Union(wanted)
		_, err = t.exec(ctx, "UPDATE partnerkit_grant SET scopes = $2 WHERE id = $1", grant.ID, grant.Scopes.String())
	}
	return grant, err
}
