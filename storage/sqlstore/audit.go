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

const insertAudit = "INSERT INTO partnerkit_audit (id, app_id, user_id, by_developer, action, target, detail, reason, token, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

func auditRow(e audit.Entry) []any {
	return []any{e.ID, e.AppID, e.UserID, e.ByDeveloper, string(e.Action), e.Target, e.Detail, e.Reason, e.Token, ms(e.At)}
}

// RecordAudit implements consolestore.Store.
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

// Audit implements consolestore.Store and consolestore.Store. It asks for one organization
// after the other: for several at once SQLite would rather read the log of all.
func (s *Store) Audit(ctx context.Context, q audit.Query) ([]audit.Entry, error) {
	switch {
	case q.AppID != "":
		all, err := s.audit(ctx, q, condition{"app_id = ", q.AppID})
		return all, wrap("audit", err)
	case q.All:
		all, err := s.audit(ctx, q)
		return all, wrap("audit of all apps", err)
	}
	var all []audit.Entry
	for _, organizationID := range q.OrganizationIDs {
		// Entries of the operator are about no app either, and an organization may have
		// the id of a user.
		some, err := s.audit(ctx, q, condition{"app_id = '' AND by_developer AND target = ", organizationID})
		if err != nil {
			return nil, wrap("audit of organizations", err)
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b audit.Entry) int { return strings.Compare(b.ID, a.ID) })
	return all[:min(q.Limit, len(all))], nil
}

// condition is the beginning of a condition, and the value that it ends with.
type condition struct {
	begins string
	value  any
}

// audit lists the entries that meet the conditions and the filters of a query, newest
// first. With conditions they are found by an index over an expression of id.
func (s *Store) audit(ctx context.Context, q audit.Query, conditions ...condition) ([]audit.Entry, error) {
	key := "id"
	if len(conditions) > 0 {
		key = "id || ''"
	}
	if q.Before != "" {
		conditions = append(conditions, condition{key + " < ", q.Before})
	}
	if !q.Since.IsZero() {
		conditions = append(conditions, condition{key + " >= ", id.Floor(id.Audit, q.Since)})
	}
	if !q.Until.IsZero() {
		conditions = append(conditions, condition{key + " < ", id.Floor(id.Audit, q.Until)})
	}
	if q.UserID != "" {
		conditions = append(conditions, condition{"user_id = ", q.UserID})
	}
	if q.Action != "" {
		conditions = append(conditions, condition{"action = ", string(q.Action)})
	}
	where, args := whereAll(conditions)
	args = append(args, q.Limit)
	var all []audit.Entry
	err := storage.Each(ctx, s, s.sql.of("SELECT id, app_id, user_id, by_developer, action, target, detail, reason, token, created_at FROM partnerkit_audit"+where+
		" ORDER BY "+key+" DESC LIMIT "+places(len(args)-1, 1)), args,
		func(scan func(...any) error) error {
			var e audit.Entry
			var created int64
			if err := scan(&e.ID, &e.AppID, &e.UserID, &e.ByDeveloper, &e.Action, &e.Target, &e.Detail, &e.Reason, &e.Token, &created); err != nil {
				return err
			}
			e.At = fromMS(created)
			all = append(all, e)
			return nil
		})
	return all, err
}

// whereAll returns the clause of all conditions, with their values.
func whereAll(conditions []condition) (clause string, values []any) {
	word := " WHERE "
	for i, one := range conditions {
		clause += word + one.begins + places(i, 1)
		values = append(values, one.value)
		word = " AND "
	}
	return clause, values
}

// purgeAudit deletes storage.PurgeAudit.
func (s *Store) purgeAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "DELETE FROM partnerkit_audit WHERE id IN (SELECT id FROM partnerkit_audit WHERE id < $1 ORDER BY id LIMIT $2)", id.Floor(id.Audit, before), limit)
	return int(n), wrap("purge audit", err)
}
