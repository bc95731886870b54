package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Code implements oauthstore.Store.
func (s *Store) Code(ctx context.Context, digest storage.Digest) (oauthstore.Code, error) {
	var (
		code          oauthstore.Code
		scopes        string
		expires       int64
		used          sql.NullInt64
		grant, family sql.NullString
	)
	err := s.read(ctx, `SELECT x.app_id, x.installation_id, i.business_id, x.grant_id, x.user_id, x.family_id,
			x.id, x.redirect_uri, x.code_challenge, x.scopes, x.expires_at, x.used_at
		FROM partnerkit_code x JOIN partnerkit_installation i ON i.id = x.installation_id
		WHERE x.digest = $1`, []any{digest.Bytes()},
		&code.AppID, &code.InstallationID, &code.BusinessID, &grant, &code.UserID, &family,
		&code.ID, &code.RedirectURI, &code.CodeChallenge, &scopes, &expires, &used)
	if err != nil {
		return code, wrap("code", notFound(err))
	}
	code.GrantID, code.FamilyID = grant.String, family.String
	code.ExpiresAt, code.Used = fromMS(expires), used.Valid
	return code, decoded(stored{scopes, &code.Scopes})
}

// RedeemCode implements oauthstore.Store: 5 statements.
func (s *Store) RedeemCode(ctx context.Context, code oauthstore.Code, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "redeem code", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		of := parentsOf(code.Owners)
		state, won, err := tx.use(ctx, of, "UPDATE partnerkit_code SET used_at = $1, family_id = $2 WHERE id = $3 AND used_at IS NULL", ms(m.Now), m.FamilyID, code.ID)
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		if !won { // a code that was used before is Lost, no matter what else has ended
			return oauthstore.IssueResult{Outcome: oauthstore.Lost}, tx.endFamilyOfCode(ctx, code.ID, m.Now)
		}
		issued := state.result(code.Scopes, m)
		switch {
		case mayPass(issued.Outcome): // the code stays used, and has no family
			return issued, tx.later(ctx, "UPDATE partnerkit_code SET family_id = NULL WHERE id = $1", code.ID)
		case issued.Outcome != oauthstore.Issued:
			return issued, errStop
		}
		return issued, tx.startFamily(ctx, of, issued.Scopes, m)
	})
}

// SpendCode implements oauthstore.Store.
func (s *Store) SpendCode(ctx context.Context, codeID string, now time.Time) (bool, error) {
	n, err := s.exec(ctx, "UPDATE partnerkit_code SET used_at = $2 WHERE id = $1 AND used_at IS NULL", codeID, ms(now))
	return n > 0, wrap("spend code", err)
}

func (t *tx) endFamilyOfCode(ctx context.Context, codeID string, now time.Time) error {
	_, err := t.exec(ctx, `UPDATE partnerkit_family SET ended_at = $2 WHERE ended_at IS NULL
		AND id = (SELECT family_id FROM partnerkit_code WHERE id = $1)`, codeID, ms(now))
	return err
}

// CollectDevice implements oauthstore.Store: 5 statements.
func (s *Store) CollectDevice(ctx context.Context, device oauthstore.DeviceCode, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "collect device", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		of := parentsOf(device.Owners)
		state, won, err := tx.use(ctx, of, "UPDATE partnerkit_device_code SET status = 'COLLECTED' WHERE id = $1 AND status = 'APPROVED'", device.ID)
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		if !won {
			return oauthstore.IssueResult{Outcome: oauthstore.Lost}, nil
		}
		issued := state.result(device.Scopes, m)
		switch {
		case mayPass(issued.Outcome):
			return issued, tx.later(ctx, "UPDATE partnerkit_device_code SET status = 'DENIED' WHERE id = $1", device.ID)
		case issued.Outcome != oauthstore.Issued:
			return issued, errStop
		}
		return issued, tx.startFamily(ctx, of, issued.Scopes, m)
	})
}

const exchangedInstallation = `SELECT i.id, i.app_id, i.business_id, i.status, i.scopes, i.created_at, i.ended_at
	FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id WHERE a.id = $1 AND i.business_id = $2 AND i.status = 'ACTIVE'`

// ExchangeSession implements oauthstore.Store: 4 statements, 6 with
// a refresh token.
func (s *Store) ExchangeSession(ctx context.Context, x oauthstore.Exchange, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "exchange session token", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		var row installationRow
		// It locks the app before the user's status is read, for eraseSteps.
		if err := tx.one(ctx, exchangedInstallation+tx.dialect.ShareOf("a, i"), []any{x.AppID, x.BusinessID}, row.dest()...); err != nil {
			return oauthstore.IssueResult{}, notFound(err)
		}
		installed, err := row.value()
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		if x.InstallationID != "" && x.InstallationID != installed.ID {
			return oauthstore.IssueResult{Outcome: oauthstore.Dead}, nil
		}
		of := parents{app: x.AppID, installation: installed.ID, user: x.UserID}
		state, won, err := tx.use(ctx, of, "INSERT INTO partnerkit_used_session_token (token_id, expires_at) VALUES ($1, $2) ON CONFLICT (token_id) DO NOTHING", x.TokenID, ms(x.ExpiresAt))
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		issued := state.result(state.granted, m)
		switch {
		case issued.Outcome != oauthstore.Issued:
			return issued, errStop
		case !won:
			return oauthstore.IssueResult{Outcome: oauthstore.Lost}, nil
		case m.RefreshID == "":
			return issued, tx.insertAccess(ctx, of.owners(), nil, 0, issued.Scopes.String(), m)
		}
		return issued, tx.startFamily(ctx, of, issued.Scopes, m)
	})
}

// issue runs an operation that issues tokens. The operation returns errStop if it issued
// none and its writes must be rolled back. If a parent does not exist, the outcome is Dead.
func (s *Store) issue(ctx context.Context, name string, act func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error)) (oauthstore.IssueResult, error) {
	var issued oauthstore.IssueResult
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		if issued, err = act(ctx, tx); errors.Is(err, partner.ErrNotFound) {
			issued, err = oauthstore.IssueResult{Outcome: oauthstore.Dead}, errStop
		}
		return err
	})
	if err != nil && !errors.Is(err, errStop) {
		return oauthstore.IssueResult{}, wrap(name, err)
	}
	return issued, nil
}

// The statements that make a family and its tokens, for a row or for many.
const (
	insertFamily  = "INSERT INTO partnerkit_family (id, app_id, installation_id, grant_id, user_id, scopes, generation) VALUES"
	insertAccess  = "INSERT INTO partnerkit_access_token (id, digest, scopes, expires_at, app_id, installation_id, grant_id, user_id, family_id, generation) VALUES"
	insertRefresh = "INSERT INTO partnerkit_refresh_token (id, digest, family_id, generation, expires_at) VALUES"
)

func familyRow(of owners, id, scopes string) []any {
	return []any{id, of.app, of.installation, of.grant, of.user, scopes, 1}
}

// accessRow is of an access token; one without a family, which is nil, is of generation 0.
func accessRow(of owners, family any, generation int64, scopes string, m oauthstore.NewTokens) []any {
	return []any{m.AccessID, m.AccessDigest.Bytes(), scopes, ms(m.AccessExpires), of.app, of.installation, of.grant, of.user, family, generation}
}

func refreshRow(family any, generation int64, m oauthstore.NewTokens) []any {
	return []any{m.RefreshID, m.RefreshDigest.Bytes(), family, generation, ms(m.RefreshExpires)}
}

// startFamily makes a family with its first tokens: 3 statements.
func (t *tx) startFamily(ctx context.Context, p parents, granted identity.Scopes, m oauthstore.NewTokens) error {
	of, scopes := p.owners(), granted.String()
	if err := t.later(ctx, insertFamily+" ($1, $2, $3, $4, $5, $6, $7)", familyRow(of, m.FamilyID, scopes)...); err != nil {
		return err
	}
	return t.insertTokens(ctx, of, m.FamilyID, 1, scopes, m)
}

// insertTokens makes the tokens of a generation of the family: 2 statements.
func (t *tx) insertTokens(ctx context.Context, of owners, family any, generation int64, scopes string, m oauthstore.NewTokens) error {
	if err := t.insertAccess(ctx, of, family, generation, scopes, m); err != nil {
		return err
	}
	return t.later(ctx, insertRefresh+" ($1, $2, $3, $4, $5)", refreshRow(family, generation, m)...)
}

func (t *tx) insertAccess(ctx context.Context, of owners, family any, generation int64, scopes string, m oauthstore.NewTokens) error {
	return t.later(ctx, insertAccess+" ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", accessRow(of, family, generation, scopes, m)...)
}
