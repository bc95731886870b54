package sqlstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

// How long dead rows still answer by what they were.
const (
	keepAsked  = 24 * time.Hour      // requests, codes and device codes
	keepTokens = 30 * 24 * time.Hour // tokens, families; apps that came by themselves and that nobody connected
)

// Purge implements oauthserver.JanitorStore. Each statement deletes a few rows
// that it finds by a primary key or an index: it asks for their order, since PostgreSQL
// would otherwise read the table from its beginning, past all that was purged there.
func (s *Store) Purge(ctx context.Context, now time.Time, limit int) (int, error) {
	old := func(kind id.Kind, lifetime, keep time.Duration) any { return id.Floor(kind, now.Add(-lifetime-keep)) }
	tokens := old(id.Token, oauthserver.RefreshTokenLifetime, keepTokens)
	purges := []struct {
		table, key, by, and string
		than                any
	}{
		{"partnerkit_authorization_request", "id", "id", "", old(id.Authorization, oauthserver.RequestLifetime, keepAsked)},
		{"partnerkit_code", "id", "id", "", old(id.Code, oauthserver.CodeLifetime, keepAsked)},
		{"partnerkit_device_code", "id", "id", "", old(id.Device, oauthserver.DeviceCodeLifetime, keepAsked)},
		{"partnerkit_registration_token", "id", "id", "", old(id.RegistrationToken, oauthserver.RegistrationTokenLifetime, keepAsked)},
		{"partnerkit_access_token", "id", "id", "", old(id.Token, oauthserver.AccessTokenLifetime, keepTokens)},
		{"partnerkit_refresh_token", "id", "id", "", tokens},
		{"partnerkit_used_session_token", "token_id", "expires_at", "", ms(now)},
		{"partnerkit_signing_key", "id", "retire_at", "", ms(now)},
		{"partnerkit_app", "id", "created_at", ` AND origin <> 'console' AND document_fetched_at < $1 AND NOT EXISTS (
			SELECT 1 FROM partnerkit_installation i WHERE i.app_id = partnerkit_app.id)`, ms(now.Add(-keepTokens))},
	}
	// A family goes with its last token, right before it.
	families, err := s.exec(ctx, `DELETE FROM partnerkit_family WHERE (id, generation) IN (
		SELECT family_id, generation FROM partnerkit_refresh_token WHERE id < $1 ORDER BY id LIMIT $2)`, tokens, limit)
	if err != nil {
		return 0, wrap("purge", err)
	}
	total := int(families)
	for _, p := range purges {
		n, err := s.exec(ctx, "DELETE FROM "+p.table+" WHERE "+p.key+" IN (SELECT "+p.key+" FROM "+p.table+" WHERE "+p.by+" < $1"+p.and+
			" ORDER BY "+p.by+" LIMIT $2)", p.than, limit)
		if err != nil {
			return total, wrap("purge", err)
		}
		total += int(n)
	}
	return total, nil
}

// RecordRedactions implements oauthserver.JanitorStore. A timer is settled by one
// conditional write, so that of several nodes one records its event. What the app has
// attached to records of the business ends with it.
func (s *Store) RecordRedactions(ctx context.Context, now time.Time, limit int, record func(oauthserver.Installation) []events.Event) (int, error) {
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

func (t *tx) dueRedactions(ctx context.Context, now time.Time, limit int) ([]oauthserver.Installation, error) {
	var due []oauthserver.Installation
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
func (t *tx) wasConnectedAgain(ctx context.Context, i oauthserver.Installation) (bool, error) {
	var n int
	err := t.one(ctx, "SELECT COUNT(*) FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND created_at >= $3 AND id <> $4",
		[]any{i.AppID, i.BusinessID, ms(i.EndedAt), i.ID}, &n)
	return n > 0, err
}
