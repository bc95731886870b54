package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// How long rows are kept after they have expired, so that they still appear as what they
// were.
const (
	keepRequests           = 30 * time.Minute // authorization requests, which users cause without number
	keepRegistrationTokens = 24 * time.Hour
	keepAccessTokens       = 24 * time.Hour
	keepCodes              = 30 * 24 * time.Hour // codes, device codes, used session tokens
	// keepAssertions is longer than clocks can differ: a used assertion is rejected until it
	// has expired on every node.
	keepAssertions    = 24 * time.Hour
	keepRefreshTokens = 90 * 24 * time.Hour
	// keepUnconnected is how long an app is kept that registered itself, or has a
	// document, and that was never connected. A suspended or deactivated app of a document
	// is kept for good: its document would make it active again.
	keepUnconnected = 30 * 24 * time.Hour
)

// expired selects the first rows of a table, at most $2, whose column is less than $1. It
// asks for their order, since PostgreSQL would otherwise read the table from its
// beginning, past all that was purged there.
func expired(table, key, column, and string) string {
	return "SELECT " + key + " FROM " + table + " WHERE " + column + " < $1" + and + " ORDER BY " + column + " LIMIT $2"
}

// Purge implements the Purge of every feature's store.
func (s *Store) Purge(ctx context.Context, p storage.Purge) (int, error) {
	switch p.Kind {
	case storage.PurgeOAuth:
		return s.purgeOAuth(ctx, p)
	case storage.PurgeAudit:
		return s.purgeAudit(ctx, p.Before, p.Limit)
	case storage.PurgeKeys:
		return s.purgeKeys(ctx, p)
	case storage.PurgeCalls:
		return s.purgeCalls(ctx, p.Before, p.Limit)
	case storage.PurgeCallGroups:
		return s.purgeCallGroups(ctx, "kind <> 'business'", p)
	case storage.PurgeUsage:
		return s.purgeCallGroups(ctx, "kind = 'business'", p)
	case storage.PurgeRequests:
		return s.purgeRequests(ctx, p.Before, p.Limit)
	case storage.PurgeEvents:
		return s.purgeEvents(ctx, p.Before, p.Limit)
	case storage.PurgeDeliveries:
		return s.purgeDeliveries(ctx, p.Before, p.Limit)
	case storage.PurgeHealth:
		return s.purgeMinutes(ctx, p.Before, p.Limit)
	case storage.PurgeLimitWindows:
		return s.purgeLimitWindows(ctx, p.Before, p.Limit)
	case storage.PurgeAppData:
		return s.purgeAppData(ctx, p.Limit)
	}
	return 0, fmt.Errorf("purge: unknown kind %q", p.Kind)
}

// purgeOAuth deletes storage.PurgeOAuth. Each statement is a transaction and deletes a
// few rows that it finds by a primary key or an index.
func (s *Store) purgeOAuth(ctx context.Context, p storage.Purge) (int, error) {
	live := p.Lifetimes
	old := func(kind id.Kind, lifetime, keep time.Duration) any {
		return id.Floor(kind, p.Before.Add(-lifetime-keep))
	}
	remove := func(table, key, column, and string) string {
		return "DELETE FROM " + table + " WHERE " + key + " IN (" + expired(table, key, column, and) + ")"
	}
	refresh := old(id.Token, cmp.Or(live.RefreshToken, lifetimes.RefreshToken), keepRefreshTokens)
	total := 0
	for _, purge := range []struct {
		statement string
		than      any
	}{
		{keepUsedTokens(s.db.Dialect()), refresh},
		{forgetUsedTokens, refresh},
		{purgeFamilies, refresh},
		{purgeRefreshTokens, refresh},
		{remove("partnerkit_authorization_request", "id", "id", ""), old(id.Authorization, cmp.Or(live.Request, lifetimes.Request), keepRequests)},
		{remove("partnerkit_code", "id", "id", ""), old(id.Code, cmp.Or(live.Code, lifetimes.Code), keepCodes)},
		{remove("partnerkit_device_code", "id", "id", ""), old(id.Device, cmp.Or(live.DeviceCode, lifetimes.DeviceCode), keepCodes)},
		{remove("partnerkit_registration_token", "id", "id", ""), old(id.RegistrationToken, cmp.Or(live.RegistrationToken, lifetimes.RegistrationToken), keepRegistrationTokens)},
		{remove("partnerkit_console_token", "id", "id", ""), old(id.ConsoleToken, consolestore.MaxTokenLifetime, keepCodes)},
		{remove("partnerkit_access_token", "id", "id", ""), old(id.Token, cmp.Or(live.AccessToken, lifetimes.AccessToken), keepAccessTokens)},
		{remove("partnerkit_used_session_token", "token_id", "expires_at", ""), ms(p.Before.Add(-keepCodes))},
		{remove("partnerkit_used_assertion", "digest", "expires_at", ""), ms(p.Before.Add(-keepAssertions))},
		{remove("partnerkit_signing_key", "id", "retire_at", ""), ms(p.Before)},
		{remove("partnerkit_app", "id", "created_at", ` AND origin <> 'console' AND (origin <> 'document' OR status = 'ACTIVE') AND document_fetched_at < $1 AND NOT EXISTS (
			SELECT 1 FROM partnerkit_installation i WHERE i.app_id = partnerkit_app.id)`), ms(p.Before.Add(-keepUnconnected))},
	} {
		n, err := s.exec(ctx, purge.statement, purge.than, p.Limit)
		if err != nil {
			return total, wrap("purge", err)
		}
		total += int(n)
	}
	return total, nil
}

// The purge of refresh tokens is four statements on the oldest of them. A token is
// recognized for as long as its family lives. A family has ended when it was revoked, when
// its consent, its installation or its app has ended, or when its newest token has expired.
// An end is final, so a statement that sees one needs no lock to rely on it.
//
//  1. A used token of a family that lives leaves its digest in
//     partnerkit_used_refresh_token.
//  2. The digests of families are deleted whose newest token is due itself.
//  3. Those families are deleted that have no digest left.
//  4. Tokens are deleted, except for the newest one of a family that is still there and for
//     those that should have left a digest and have not.
//
// So between any two statements a used token of a living family has its row or its digest,
// and a family whose digests are too many for one batch has its newest token, by which the
// next batch finds it.
var (
	dueTokens = expired("partnerkit_refresh_token", "id", "id", "")

	usedAndAlive = ` FROM partnerkit_refresh_token t JOIN partnerkit_family x ON x.id = t.family_id
		JOIN partnerkit_installation i ON i.id = x.installation_id JOIN partnerkit_app a ON a.id = x.app_id
		LEFT JOIN partnerkit_grant g ON g.id = x.grant_id
		WHERE t.id IN (` + dueTokens + `) AND t.generation < x.generation AND x.ended_at IS NULL
		AND i.status = 'ACTIVE' AND a.status <> 'DEACTIVATED' AND g.ended_at IS NULL`

	forgetUsedTokens = `DELETE FROM partnerkit_used_refresh_token WHERE digest IN (SELECT u.digest FROM partnerkit_refresh_token t
		JOIN partnerkit_family x ON x.id = t.family_id AND x.generation = t.generation
		JOIN partnerkit_used_refresh_token u ON u.family_id = x.id
		WHERE t.id IN (` + dueTokens + `) LIMIT $2)`

	purgeFamilies = `DELETE FROM partnerkit_family WHERE (id, generation) IN (
		SELECT t.family_id, t.generation FROM partnerkit_refresh_token t WHERE t.id IN (` + dueTokens + `))
		AND NOT EXISTS (SELECT 1 FROM partnerkit_used_refresh_token u WHERE u.family_id = partnerkit_family.id)`

	// The conditions are on the due rows alone: PostgreSQL would evaluate them for the whole
	// table otherwise.
	purgeRefreshTokens = `DELETE FROM partnerkit_refresh_token WHERE id IN (SELECT d.id
		FROM (` + expired("partnerkit_refresh_token", "id, family_id, generation", "id", "") + `) AS d
		WHERE NOT EXISTS (SELECT 1 FROM partnerkit_family x WHERE x.id = d.family_id AND x.generation = d.generation)
		AND d.id NOT IN (SELECT t.id` + usedAndAlive + ` AND NOT EXISTS (SELECT 1 FROM partnerkit_used_refresh_token u WHERE u.digest = t.digest)))`
)

// keepUsedTokens returns the first of them. It locks the families, so that none of them is
// deleted at the same time; a digest that comes later than that is deleted with its family.
func keepUsedTokens(d storage.Dialect) string {
	return "INSERT INTO partnerkit_used_refresh_token (digest, family_id) SELECT t.digest, t.family_id" + usedAndAlive +
		" ORDER BY t.id" + d.ShareOf("x") + " ON CONFLICT (digest) DO NOTHING"
}

// RecordRedactions implements oauthstore.Store. A timer is settled by one
// conditional write, so that exactly one node records its event. Values that the app has
// attached to records of the business are deleted with it.
func (s *Store) RecordRedactions(ctx context.Context, now time.Time, limit int, record func(partner.Installation) []partner.Event) (int, error) {
	settled := 0
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		settled = 0
		due, err := tx.dueRedactions(ctx, now, limit)
		if err != nil {
			return err
		}
		for _, i := range due {
			n, err := tx.exec(ctx, "UPDATE partnerkit_installation SET redact_at = NULL WHERE id = $1 AND redact_at IS NOT NULL", i.ID)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			settled++
			again, err := tx.wasConnectedAgain(ctx, i)
			if err != nil {
				return err
			}
			if again {
				continue
			}
			if err := tx.record(ctx, record(i)); err != nil {
				return err
			}
			if err := tx.endSpace(ctx, i.AppID, i.BusinessID, now); err != nil {
				return err
			}
		}
		return nil
	})
	return settled, wrap("record redactions", err)
}

func (t *tx) dueRedactions(ctx context.Context, now time.Time, limit int) ([]partner.Installation, error) {
	var due []partner.Installation
	err := storage.Each(ctx, t.on, t.sql.of("SELECT "+installationColumns+" FROM partnerkit_installation WHERE redact_at <= $1 ORDER BY redact_at LIMIT $2"), []any{ms(now), limit},
		func(scan func(...any) error) error {
			var row installationRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			due = append(due, one)
			return err
		})
	return due, err
}

// wasConnectedAgain reports whether there is a later installation, which has a
// timer of its own if it ended too.
func (t *tx) wasConnectedAgain(ctx context.Context, i partner.Installation) (bool, error) {
	var n int
	err := t.one(ctx, "SELECT COUNT(*) FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND created_at >= $3 AND id <> $4",
		[]any{i.AppID, i.BusinessID, ms(i.EndedAt), i.ID}, &n)
	return n > 0, err
}
