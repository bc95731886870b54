package console

import (
	"context"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
)

// AuditStore keeps the audit log. The OAuth server records its own entries there.
type AuditStore interface {
	// RecordAudit adds an entry.
	RecordAudit(ctx context.Context, e audit.Entry) error
	// Audit lists entries, newest first.
	Audit(ctx context.Context, q audit.Query) ([]audit.Entry, error)
}

// change makes one change and records its audit entry, in one transaction: both happen, or
// neither. The function do makes the change and returns the entry. It may run more than
// once. On SQLite no other write runs at the same time, so do parses, hashes and fetches
// nothing.
func (c *Console) change(ctx context.Context, do func(ctx context.Context) (audit.Entry, error)) error {
	now := c.cfg.Clock.Now()
	entryID := id.New(id.Audit, now)
	return c.cfg.Notifications.AfterCommit(ctx, c.cfg.Store.Transact, func(ctx context.Context) error {
		entry, err := do(ctx)
		if err != nil {
			return err
		}
		entry.ID, entry.At = entryID, now
		return c.cfg.Store.RecordAudit(ctx, entry)
	})
}

// did returns the entry of something that an actor does in the console.
func (a Actor) did(action audit.Action, appID, target string) audit.Entry {
	return audit.Entry{AppID: appID, UserID: a.userID, ByDeveloper: true, Action: action, Target: target, Token: a.token}
}
