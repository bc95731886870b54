package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

const insertAudit = "INSERT INTO partnerkit_audit (id, app_id, user_id, by_developer, action, target, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)"

func auditRow(e audit.Entry) []any {
	return []any{e.ID, e.AppID, e.UserID, e.ByDeveloper, string(e.Action), e.Target, ms(e.At)}
}

// RecordAudit implements console.AuditStore.
func (s *Store) RecordAudit(ctx context.Context, e audit.Entry) error {
	_, err := s.exec(ctx, insertAudit, auditRow(e)...)
	return wrap("record audit", err)
}

// audit adds the entry of what the transaction does, unless it is the zero Entry.
func (t *tx) audit(ctx context.Context, e audit.Entry) error {
	if e == (audit.Entry{}) {
		return nil
	}
	return t.later(ctx, insertAudit, auditRow(e)...)
}

// Audit implements console.AuditStore.
func (s *Store) Audit(ctx context.Context, appID, before string, limit int) ([]audit.Entry, error) {
	all, err := s.audit(ctx, "app_id = $1", appID, before, limit)
	return all, wrap("audit", err)
}

// OrganizationAudit implements console.AuditStore. It asks for one organization after
// the other: for several at once SQLite would rather read the log of all.
func (s *Store) OrganizationAudit(ctx context.Context, organizationIDs []string, before string, limit int) ([]audit.Entry, error) {
	var all []audit.Entry
	for _, organizationID := range organizationIDs {
		some, err := s.audit(ctx, "app_id = '' AND target = $1", organizationID, before, limit)
		if err != nil {
			return nil, wrap("audit of organizations", err)
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b audit.Entry) int { return strings.Compare(b.ID, a.ID) })
	return all[:min(limit, len(all))], nil
}

// audit lists the entries where $1 is something, newest first.
func (s *Store) audit(ctx context.Context, where, is, before string, limit int) ([]audit.Entry, error) {
	args := []any{is, limit}
	if before != "" {
		where, args = where+" AND id || '' < $3", append(args, before)
	}
	var all []audit.Entry
	err := storage.Each(ctx, s, s.sql.of("SELECT id, app_id, user_id, by_developer, action, target, created_at FROM partnerkit_audit WHERE "+where+" ORDER BY id || '' DESC LIMIT $2"), args,
		func(scan func(...any) error) error {
			var e audit.Entry
			var created int64
			if err := scan(&e.ID, &e.AppID, &e.UserID, &e.ByDeveloper, &e.Action, &e.Target, &created); err != nil {
				return err
			}
			e.At = fromMS(created)
			all = append(all, e)
			return nil
		})
	return all, err
}

// PurgeAudit implements oauthserver.JanitorStore.
func (s *Store) PurgeAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "DELETE FROM partnerkit_audit WHERE id IN (SELECT id FROM partnerkit_audit WHERE id < $1 ORDER BY id LIMIT $2)", id.Floor(id.Audit, before), limit)
	return int(n), wrap("purge audit", err)
}
