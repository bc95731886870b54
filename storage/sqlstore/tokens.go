package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// AccessToken implements oauthserver.TokenStore. It is part of every call of the
// API, so all that it scans into is one allocation.
func (s *Store) AccessToken(ctx context.Context, digest oauthserver.Digest) (oauthserver.AccessToken, error) {
	var row struct {
		standingRow
		token               oauthserver.AccessToken
		scopes              string
		generation, expires int64
		revoked             sql.NullInt64
	}
	token := &row.token
	row.to = &token.Standing
	err := s.read(ctx, "SELECT "+standingColumns+`, x.id, x.scopes, x.expires_at, x.revoked_at, x.family_id, x.generation, f.ended_at, f.generation, a.pinned_version
		FROM partnerkit_access_token x`+standingJoins+" LEFT JOIN partnerkit_family f ON f.id = x.family_id WHERE x.digest = $1", []any{digest.Bytes()},
		append(row.dest(), &token.ID, &row.scopes, &row.expires, &row.revoked, &row.family, &row.generation, &row.familyEnded, &row.familyGenerated, &token.PinnedVersion)...)
	if err != nil {
		return *token, wrap("access token", notFound(err))
	}
	replaced := row.family.Valid && row.familyGenerated.Int64 != row.generation
	token.ExpiresAt, token.Revoked = fromMS(row.expires), row.revoked.Valid || replaced
	err = row.decode(stored{row.scopes, &token.Scopes})
	return *token, err
}

// RefreshToken implements oauthserver.TokenStore.
func (s *Store) RefreshToken(ctx context.Context, digest oauthserver.Digest) (oauthserver.RefreshToken, error) {
	var row struct {
		standingRow
		token   oauthserver.RefreshToken
		scopes  string
		expires int64
		used    sql.NullInt64
	}
	token := &row.token
	row.to = &token.Standing
	err := s.read(ctx, "SELECT "+standingColumns+`, t.id, x.scopes, t.expires_at, t.used_at, x.id, x.ended_at
		FROM partnerkit_refresh_token t JOIN partnerkit_family x ON x.id = t.family_id`+standingJoins+" WHERE t.digest = $1", []any{digest.Bytes()},
		append(row.dest(), &token.ID, &row.scopes, &row.expires, &row.used, &row.family, &row.familyEnded)...)
	if err != nil {
		return *token, wrap("refresh token", notFound(err))
	}
	token.ExpiresAt, token.Used = fromMS(row.expires), row.used.Valid
	err = row.decode(stored{row.scopes, &token.FamilyScopes})
	return *token, err
}

// TokenToRotate implements oauthserver.TokenStore.
func (s *Store) TokenToRotate(ctx context.Context, digest oauthserver.Digest) (oauthserver.RefreshToken, error) {
	var row struct {
		token       oauthserver.RefreshToken
		scopes      string
		expires     int64
		used, ended sql.NullInt64
		grant       sql.NullString
	}
	token := &row.token
	err := s.read(ctx, `SELECT x.app_id, x.installation_id, i.business_id, i.status, x.grant_id, x.user_id, x.id, x.ended_at, x.scopes,
			t.id, t.expires_at, t.used_at
		FROM partnerkit_refresh_token t JOIN partnerkit_family x ON x.id = t.family_id
		JOIN partnerkit_installation i ON i.id = x.installation_id WHERE t.digest = $1`, []any{digest.Bytes()},
		&token.AppID, &token.InstallationID, &token.BusinessID, (*string)(&token.InstallationStatus), &row.grant, &token.UserID,
		&token.FamilyID, &row.ended, &row.scopes, &token.ID, &row.expires, &row.used)
	if err != nil {
		return *token, wrap("token to rotate", notFound(err))
	}
	token.GrantID, token.FamilyEnded = row.grant.String, row.ended.Valid
	token.ExpiresAt, token.Used = fromMS(row.expires), row.used.Valid
	err = decoded(stored{row.scopes, &token.FamilyScopes})
	return *token, err
}

// RotateRefresh implements oauthserver.TokenStore: 5 statements.
func (s *Store) RotateRefresh(ctx context.Context, r oauthserver.Rotation, m oauthserver.Mint) (oauthserver.Minted, error) {
	return s.mint(ctx, "rotate refresh token", func(ctx context.Context, tx *tx) (oauthserver.Minted, error) {
		line := lineageOf(r.Token.Standing)
		line.family = r.Token.FamilyID
		state, err := tx.lock(ctx, line)
		if err != nil {
			return oauthserver.Minted{}, err
		}
		if state.familyEnded {
			return oauthserver.Minted{Outcome: oauthserver.Revoked}, nil
		}
		minted := state.verdict(state.familyScopes)
		if minted.Outcome != oauthserver.Issued && !r.Token.Used {
			return minted, nil
		}
		if !r.Narrow.IsEmpty() {
			minted.Scopes = minted.Scopes.Intersect(r.Narrow)
		}
		if minted.Outcome == oauthserver.Issued && minted.Scopes.IsEmpty() && !r.Token.Used {
			return oauthserver.Minted{Outcome: oauthserver.Dead}, nil
		}
		n, err := tx.useRefresh(ctx, r, minted.Scopes, m.Now)
		if err != nil {
			return minted, err
		}
		if n == 0 {
			return tx.reused(ctx, r, state, m.Now)
		}
		return minted, tx.succeed(ctx, line.family, state.generation+1, minted.Scopes, m)
	})
}

// useRefresh is the one write that picks the winner.
func (t *tx) useRefresh(ctx context.Context, r oauthserver.Rotation, scopes identity.Scopes, now time.Time) (int64, error) {
	var answer, answerScopes any
	if r.Retry > 0 {
		answer, answerScopes = r.Answer, scopeList(scopes)
	}
	return t.exec(ctx, "UPDATE partnerkit_refresh_token SET used_at = $1, answer = $2, answer_scopes = $3 WHERE id = $4 AND used_at IS NULL",
		ms(now), answer, answerScopes, r.Token.ID)
}

// reused ends the family of a token that was used before, unless this is a retry
// that is allowed: soon enough, and with the successor still unused. What has died
// since is not repeated.
func (t *tx) reused(ctx context.Context, r oauthserver.Rotation, state locked, now time.Time) (oauthserver.Minted, error) {
	if r.Retry > 0 {
		var used, generation int64
		var answer []byte
		var scopes sql.NullString
		err := t.one(ctx, "SELECT used_at, generation, answer, answer_scopes FROM partnerkit_refresh_token WHERE id = $1", []any{r.Token.ID}, &used, &generation, &answer, &scopes)
		if err != nil {
			return oauthserver.Minted{}, err
		}
		if answer != nil && state.generation == generation+1 && now.Before(fromMS(used).Add(r.Retry)) {
			if !state.isAlive() {
				return oauthserver.Minted{Outcome: oauthserver.Dead}, nil
			}
			kept, err := parseScopes(scopes.String)
			return oauthserver.Minted{Outcome: oauthserver.Repeated, Scopes: kept, Answer: answer}, err
		}
	}
	return oauthserver.Minted{Outcome: oauthserver.Lost}, t.endFamily(ctx, r.Token.FamilyID, now)
}

// succeed makes the next generation; those before it are dead by that.
func (t *tx) succeed(ctx context.Context, family string, generation int64, scopes identity.Scopes, m oauthserver.Mint) error {
	err := t.later(ctx, "UPDATE partnerkit_family SET generation = $1, expires_at = $2 WHERE id = $3", generation, ms(m.RefreshExpires), family)
	if err != nil {
		return err
	}
	return t.insertTokens(ctx, family, generation, scopeList(scopes), m)
}

// EndFamily implements oauthserver.TokenStore.
func (s *Store) EndFamily(ctx context.Context, familyID string, now time.Time) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error { return tx.endFamily(ctx, familyID, now) })
	return wrap("end family", err)
}

func (t *tx) endFamily(ctx context.Context, id string, now time.Time) error {
	_, err := t.exec(ctx, "UPDATE partnerkit_family SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", id, ms(now))
	return err
}

// RevokeAccessToken implements oauthserver.TokenStore.
func (s *Store) RevokeAccessToken(ctx context.Context, tokenID string, now time.Time) error {
	_, err := s.exec(ctx, "UPDATE partnerkit_access_token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", tokenID, ms(now))
	return wrap("revoke access token", err)
}
