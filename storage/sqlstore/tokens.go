package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

var accessToken = "SELECT " + tokenColumns + `, x.id, x.scopes, x.expires_at, x.revoked_at, x.family_id, x.generation, f.ended_at, f.generation, a.pinned_version, g.permissions
	FROM partnerkit_access_token x` + tokenJoins + `
	WHERE x.digest = $1 AND x.id = $2`

// AccessToken implements oauthstore.Store. It is part of every call of the
// API, so all that it scans into is one allocation.
func (s *Store) AccessToken(ctx context.Context, tokenID string, digest storage.Digest) (oauthstore.AccessToken, error) {
	var row struct {
		standingRow
		token               oauthstore.AccessToken
		scopes              string
		generation, expires int64
		revoked             sql.NullInt64
		permissions         sql.NullString
	}
	token := &row.token
	row.to = &token.Standing
	err := s.read(ctx, accessToken, []any{digest.Bytes(), tokenID},
		append(row.dest(), &token.ID, &row.scopes, &row.expires, &row.revoked, &row.family, &row.generation, &row.familyEnded, &row.familyGenerated, &token.PinnedVersion, &row.permissions)...)
	if err != nil {
		return *token, wrap("access token", notFound(err))
	}
	replaced := row.family.Valid && row.familyGenerated.Int64 != row.generation
	token.ExpiresAt, token.Revoked = fromMS(row.expires), row.revoked.Valid || replaced
	if err = row.decode(stored{row.scopes, &token.Scopes}); err != nil || !token.IsForInstallation() {
		return *token, err
	}
	token.Permissions, err = parseList(row.permissions.String)
	return *token, err
}

// A used refresh token whose row was purged while its family lives on is found by its
// digest. What its row said is no longer known; the generation 0 is earlier than any.
const (
	refreshColumns = "SELECT " + standingColumns + ", x.id, x.ended_at, x.scopes, x.generation"
	refreshFamily  = " JOIN partnerkit_family x ON x.id = t.family_id" + standingJoins

	refreshToken = refreshColumns + ", t.id, t.expires_at, t.generation FROM partnerkit_refresh_token t" + refreshFamily +
		" WHERE t.digest = $1 AND t.id = $2"
	usedRefreshToken = refreshColumns + ", '', 0, 0 FROM partnerkit_used_refresh_token t" + refreshFamily + " WHERE t.digest = $1"
)

// RefreshToken implements oauthstore.Store.
func (s *Store) RefreshToken(ctx context.Context, tokenID string, digest storage.Digest) (oauthstore.RefreshToken, error) {
	var row struct {
		standingRow
		token            oauthstore.RefreshToken
		scopes           string
		expires, current int64
	}
	token := &row.token
	row.to = &token.Standing
	dest := append(row.dest(), &row.family, &row.familyEnded, &row.scopes, &row.current, &token.ID, &row.expires, &token.Generation)
	err := s.read(ctx, refreshToken, []any{digest.Bytes(), tokenID}, dest...)
	if errors.Is(err, storage.ErrNoRows) {
		err = s.read(ctx, usedRefreshToken, []any{digest.Bytes()}, dest...)
	}
	if err != nil {
		return *token, wrap("refresh token", notFound(err))
	}
	token.ExpiresAt, token.Used = fromMS(row.expires), token.Generation < row.current
	err = row.decode(stored{row.scopes, &token.FamilyScopes})
	return *token, err
}

// RotateRefresh implements oauthstore.Store: 4 statements, or 5 with a response to
// keep. Incrementing the family's generation invalidates the tokens of the previous
// generation.
func (s *Store) RotateRefresh(ctx context.Context, r oauthstore.Rotation, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return s.issue(ctx, "rotate refresh token", func(ctx context.Context, tx *tx) (oauthstore.IssueResult, error) {
		of, family := parentsOf(r.Token.Owners), r.Token.FamilyID
		state, won, err := tx.use(ctx, of, "UPDATE partnerkit_family SET generation = generation + 1, answer = NULL WHERE id = $1 AND generation = $2 AND ended_at IS NULL",
			family, r.Token.Generation)
		if err != nil {
			return oauthstore.IssueResult{}, err
		}
		if !won {
			return tx.reused(ctx, r, state, m)
		}
		issued := state.rotation(r, m)
		if state.grantEnded {
			if moved, err := tx.isMoved(ctx, r.Token); moved || err != nil {
				return oauthstore.IssueResult{Outcome: oauthstore.Moved}, cmp.Or(err, errStop)
			}
		}
		if issued.Outcome != oauthstore.Issued {
			return issued, errStop
		}
		if r.Retry > 0 {
			if err := tx.keepResponse(ctx, family, r.Response, issued.Scopes, m.Now); err != nil {
				return issued, err
			}
		}
		return issued, tx.insertTokens(ctx, of.owners(), family, r.Token.Generation+1, issued.Scopes.String(), m)
	})
}

// isMoved reports whether the family of a token has another grant than when the token was
// looked up.
func (t *tx) isMoved(ctx context.Context, token oauthstore.RefreshToken) (bool, error) {
	var grant sql.NullString
	err := t.one(ctx, "SELECT grant_id FROM partnerkit_family WHERE id = $1", []any{token.FamilyID}, &grant)
	return grant.String != token.GrantID, err
}

// rotation returns the outcome of a refresh under the locked state.
func (l locked) rotation(r oauthstore.Rotation, m oauthstore.NewTokens) oauthstore.IssueResult {
	issued := l.result(r.Token.FamilyScopes, m)
	if !r.Narrow.IsEmpty() {
		issued.Scopes = issued.Scopes.Intersect(r.Narrow)
	}
	if issued.Outcome == oauthstore.Issued && issued.Scopes.IsEmpty() {
		issued.Outcome = oauthstore.TooWide
	}
	return issued
}

// keepResponse keeps what a retry of the rotation gets back.
func (t *tx) keepResponse(ctx context.Context, family string, response []byte, scopes identity.Scopes, now time.Time) error {
	return t.later(ctx, "UPDATE partnerkit_family SET answer = $1, answer_scopes = $2, answered_at = $3 WHERE id = $4",
		response, scopes.String(), ms(now), family)
}

// reused is for a token of a family that has ended or gone on. The latter ends it,
// unless this is a retry that is allowed: soon enough, and with the successor still
// unused. For a retry the state is checked as for a rotation.
func (t *tx) reused(ctx context.Context, r oauthstore.Rotation, state locked, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	var generation int64
	var response []byte
	var scopes, grant sql.NullString
	var ended, responded sql.NullInt64
	err := t.one(ctx, "SELECT grant_id, generation, ended_at, answer, answer_scopes, answered_at FROM partnerkit_family WHERE id = $1"+t.dialect.ForUpdate,
		[]any{r.Token.FamilyID}, &grant, &generation, &ended, &response, &scopes, &responded)
	switch {
	case err != nil:
		return oauthstore.IssueResult{}, notFound(err)
	case ended.Valid, state.installation == partner.InstallationRevoked:
		return oauthstore.IssueResult{Outcome: oauthstore.Revoked}, nil
	case response == nil || generation != r.Token.Generation+1 || !m.Now.Before(fromNullMS(responded).Add(r.Retry)):
		return oauthstore.IssueResult{Outcome: oauthstore.Lost}, t.endFamily(ctx, r.Token.FamilyID, m.Now)
	}
	if grant.String != r.Token.GrantID {
		return oauthstore.IssueResult{Outcome: oauthstore.Moved}, nil
	}
	kept, err := parseScopes(scopes.String)
	if err != nil {
		return oauthstore.IssueResult{}, err
	}
	if allowed := state.result(kept, m); allowed.Outcome != oauthstore.Issued {
		return allowed, nil
	}
	return oauthstore.IssueResult{Outcome: oauthstore.Repeated, Scopes: kept, Response: response, IssuedAt: fromNullMS(responded)}, nil
}

// EndFamily implements oauthstore.Store. Like all that issues nothing, it needs no lock on
// what the record depends on.
func (s *Store) EndFamily(ctx context.Context, familyID string, now time.Time) (bool, error) {
	n, err := s.exec(ctx, endFamily, familyID, ms(now))
	return n > 0, wrap("end family", err)
}

// RevokeAccessToken implements oauthstore.Store.
func (s *Store) RevokeAccessToken(ctx context.Context, tokenID string, now time.Time) (bool, error) {
	n, err := s.exec(ctx, "UPDATE partnerkit_access_token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", tokenID, ms(now))
	return n > 0, wrap("revoke access token", err)
}

const endFamily = "UPDATE partnerkit_family SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL"

func (t *tx) endFamily(ctx context.Context, id string, now time.Time) error {
	_, err := t.exec(ctx, endFamily, id, ms(now))
	return err
}
