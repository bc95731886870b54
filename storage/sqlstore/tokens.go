package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

// lookup finds the row of a presented token: by the id that it carries or, for one that
// was made before tokens carried any, by its digest alone.
type lookup struct{ located, unlocated string }

func lookupOf(query, token string) lookup {
	return lookup{
		located:   query + " WHERE " + token + ".digest = $1 AND " + token + ".id = $2",
		unlocated: query + " WHERE " + token + ".digest = $1 AND " + token + ".unlocated",
	}
}

// and has one condition more, whose value is the last argument.
func (l lookup) and(column string) lookup {
	return lookup{located: l.located + " AND " + column + " = $3", unlocated: l.unlocated + " AND " + column + " = $2"}
}

func (l lookup) of(tokenID string, digest oauthserver.Digest) (query string, args []any) {
	if tokenID == "" {
		return l.unlocated, []any{digest.Bytes()}
	}
	return l.located, []any{digest.Bytes(), tokenID}
}

var accessToken = lookupOf("SELECT "+standingColumns+`, x.id, x.scopes, x.expires_at, x.revoked_at, x.family_id, x.generation, f.ended_at, f.generation, a.pinned_version
	FROM partnerkit_access_token x`+standingJoins+" LEFT JOIN partnerkit_family f ON f.id = x.family_id", "x")

// AccessToken implements oauthserver.TokenStore. It is part of every call of the
// API, so all that it scans into is one allocation.
func (s *Store) AccessToken(ctx context.Context, tokenID string, digest oauthserver.Digest) (oauthserver.AccessToken, error) {
	var row struct {
		standingRow
		token               oauthserver.AccessToken
		scopes              string
		generation, expires int64
		revoked             sql.NullInt64
	}
	token := &row.token
	row.to = &token.Standing
	query, args := accessToken.of(tokenID, digest)
	err := s.read(ctx, query, args,
		append(row.dest(), &token.ID, &row.scopes, &row.expires, &row.revoked, &row.family, &row.generation, &row.familyEnded, &row.familyGenerated, &token.PinnedVersion)...)
	if err != nil {
		return *token, wrap("access token", notFound(err))
	}
	replaced := row.family.Valid && row.familyGenerated.Int64 != row.generation
	token.ExpiresAt, token.Revoked = fromMS(row.expires), row.revoked.Valid || replaced
	err = row.decode(stored{row.scopes, &token.Scopes})
	return *token, err
}

// A used refresh token whose row was purged while its family lives on is found by its
// digest. What its row said is no longer known; the generation 0 is earlier than any.
const (
	fromRows    = ", t.id, t.expires_at, t.generation FROM partnerkit_refresh_token t"
	fromDigests = ", '', 0, 0 FROM partnerkit_used_refresh_token t"
	withFamily  = " JOIN partnerkit_family x ON x.id = t.family_id"
)

const refreshColumns = "SELECT " + standingColumns + ", x.id, x.ended_at, x.scopes, x.generation"

var (
	refreshToken     = lookupOf(refreshColumns+fromRows+withFamily+standingJoins, "t")
	usedRefreshToken = refreshColumns + fromDigests + withFamily + standingJoins + " WHERE t.digest = $1"
)

// RefreshToken implements oauthserver.TokenStore.
func (s *Store) RefreshToken(ctx context.Context, tokenID string, digest oauthserver.Digest) (oauthserver.RefreshToken, error) {
	var row struct {
		standingRow
		token            oauthserver.RefreshToken
		scopes           string
		expires, current int64
	}
	token := &row.token
	row.to = &token.Standing
	dest := append(row.dest(), &row.family, &row.familyEnded, &row.scopes, &row.current, &token.ID, &row.expires, &token.Generation)
	query, args := refreshToken.of(tokenID, digest)
	err := s.read(ctx, query, args, dest...)
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

const (
	clientAndFamily = "SELECT " + clientColumns + ", x.installation_id, i.business_id, i.status, x.grant_id, x.user_id, x.id, x.ended_at, x.scopes, x.generation"
	withClient      = withFamily + " JOIN partnerkit_installation i ON i.id = x.installation_id JOIN partnerkit_app a ON a.id = x.app_id"
)

var (
	clientAndToken     = lookupOf(clientAndFamily+fromRows+withClient, "t").and("a.client_id")
	clientAndUsedToken = clientAndFamily + fromDigests + withClient + " WHERE t.digest = $1 AND a.client_id = $2"
)

// ClientAndToken implements oauthserver.TokenStore.
func (s *Store) ClientAndToken(ctx context.Context, clientID, tokenID string, digest oauthserver.Digest) (oauthserver.Client, oauthserver.RefreshToken, error) {
	var row struct {
		clientRow
		token            oauthserver.RefreshToken
		scopes           string
		expires, current int64
		ended            sql.NullInt64
		grant            sql.NullString
	}
	token := &row.token
	dest := append(row.dest(), &token.InstallationID, &token.BusinessID, (*string)(&token.InstallationStatus), &row.grant, &token.UserID,
		&token.FamilyID, &row.ended, &row.scopes, &row.current, &token.ID, &row.expires, &token.Generation)
	query, args := clientAndToken.of(tokenID, digest)
	err := s.read(ctx, query, append(args, clientID), dest...)
	if errors.Is(err, storage.ErrNoRows) {
		err = s.read(ctx, clientAndUsedToken, []any{digest.Bytes(), clientID}, dest...)
	}
	if err != nil {
		return row.client, *token, wrap("client and token", notFound(err))
	}
	token.AppID, token.GrantID, token.FamilyEnded = row.client.ID, row.grant.String, row.ended.Valid
	token.ExpiresAt, token.Used = fromMS(row.expires), token.Generation < row.current
	err = errors.Join(row.decode(clientID), decoded(stored{row.scopes, &token.FamilyScopes}))
	return row.client, *token, err
}

// RotateRefresh implements oauthserver.TokenStore: 4 statements, 5 with an answer
// to keep, or its share of those of many. The generation that the family has left is dead
// by that: its refresh token was used, its access token replaced.
func (s *Store) RotateRefresh(ctx context.Context, r oauthserver.Rotation, m oauthserver.Mint) (oauthserver.Minted, error) {
	if !s.canShare(ctx) || r.Token.GrantID == "" {
		return s.rotateAlone(ctx, r, m)
	}
	return s.rotateTogether(ctx, r, m)
}

func (s *Store) rotateTogether(ctx context.Context, r oauthserver.Rotation, m oauthserver.Mint) (oauthserver.Minted, error) {
	mint := &sharedMint{
		used: r.Token.FamilyID, row: []any{r.Token.FamilyID, r.Token.Generation},
		judge: func(state locked) oauthserver.Minted { return state.rotation(r) },
		line:  lineageOf(r.Token.Standing), family: r.Token.FamilyID, before: r.Token.Generation, mint: m,
	}
	if r.Retry > 0 {
		mint.answer = r.Answer
	}
	return s.share(ctx, s.rotations, mint, func() (oauthserver.Minted, error) { return s.rotateAlone(ctx, r, m) })
}

func (s *Store) rotateAlone(ctx context.Context, r oauthserver.Rotation, m oauthserver.Mint) (oauthserver.Minted, error) {
	return s.mint(ctx, "rotate refresh token", func(ctx context.Context, tx *tx) (oauthserver.Minted, error) {
		line, family := lineageOf(r.Token.Standing), r.Token.FamilyID
		state, won, err := tx.use(ctx, line, "UPDATE partnerkit_family SET generation = generation + 1, answer = NULL WHERE id = $1 AND generation = $2 AND ended_at IS NULL",
			family, r.Token.Generation)
		if err != nil {
			return oauthserver.Minted{}, err
		}
		if !won {
			return tx.reused(ctx, r, state, m.Now)
		}
		minted := state.rotation(r)
		if minted.Outcome != oauthserver.Issued {
			return minted, errStop
		}
		if r.Retry > 0 {
			if err := tx.keepAnswer(ctx, family, r.Answer, minted.Scopes, m.Now); err != nil {
				return minted, err
			}
		}
		return minted, tx.insertTokens(ctx, line.owners(), family, r.Token.Generation+1, scopeList(minted.Scopes), m)
	})
}

// rotation is what the state means for one.
func (l locked) rotation(r oauthserver.Rotation) oauthserver.Minted {
	minted := l.verdict(r.Token.FamilyScopes)
	if !r.Narrow.IsEmpty() {
		minted.Scopes = minted.Scopes.Intersect(r.Narrow)
	}
	if minted.Outcome == oauthserver.Issued && minted.Scopes.IsEmpty() {
		minted.Outcome = oauthserver.Dead
	}
	return minted
}

// keepAnswer keeps what a retry of the rotation gets back.
func (t *tx) keepAnswer(ctx context.Context, family string, answer []byte, scopes identity.Scopes, now time.Time) error {
	return t.later(ctx, "UPDATE partnerkit_family SET answer = $1, answer_scopes = $2, answered_at = $3 WHERE id = $4",
		answer, scopeList(scopes), ms(now), family)
}

// reused is for a token of a family that has ended or gone on. The latter ends it,
// unless this is a retry that is allowed: soon enough, and with the successor still
// unused. What has died since is not repeated.
func (t *tx) reused(ctx context.Context, r oauthserver.Rotation, state locked, now time.Time) (oauthserver.Minted, error) {
	var generation int64
	var answer []byte
	var scopes sql.NullString
	var ended, answered sql.NullInt64
	err := t.one(ctx, "SELECT generation, ended_at, answer, answer_scopes, answered_at FROM partnerkit_family WHERE id = $1"+t.dialect.ForUpdate,
		[]any{r.Token.FamilyID}, &generation, &ended, &answer, &scopes, &answered)
	switch {
	case err != nil:
		return oauthserver.Minted{}, notFound(err)
	case ended.Valid, state.installation == oauthserver.InstallationRevoked:
		return oauthserver.Minted{Outcome: oauthserver.Revoked}, nil
	case answer == nil || generation != r.Token.Generation+1 || !now.Before(fromNullMS(answered).Add(r.Retry)):
		return oauthserver.Minted{Outcome: oauthserver.Lost}, t.endFamily(ctx, r.Token.FamilyID, now)
	case !state.isAlive():
		return oauthserver.Minted{Outcome: oauthserver.Dead}, nil
	}
	kept, err := parseScopes(scopes.String)
	return oauthserver.Minted{Outcome: oauthserver.Repeated, Scopes: kept, Answer: answer}, err
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
