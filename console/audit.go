package console

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
)

// AuditStore keeps who did what.
type AuditStore interface {
	// RecordAudit adds an entry.
	RecordAudit(ctx context.Context, e AuditEntry) error
	// Audit lists entries of an app, newest first, that are before an entry; an
	// empty id means from the newest on.
	Audit(ctx context.Context, appID, before string, limit int) ([]AuditEntry, error)
}

// AuditEntry is one thing that somebody did.
type AuditEntry struct {
	ID     string // aud_…, sorted by time
	AppID  string // empty when it is about no app
	UserID string
	Action string // such as webhook.created
	// Target is the id of what it was done to, if that is not the app.
	Target string
	At     time.Time
}

// act is something that an actor does.
type act struct {
	by     Actor
	appID  string
	action string
}

// did puts an act into the audit log, after it was done: what fails has changed
// nothing. That the entry cannot be written does not undo the act; the log of the
// operator has it then.
func (c *Console) did(ctx context.Context, a act, target string) {
	now := c.cfg.Clock.Now()
	e := AuditEntry{ID: id.New(id.Audit, now), AppID: a.appID, UserID: a.by.userID, Action: a.action, Target: target, At: now}
	if err := c.cfg.Store.RecordAudit(context.WithoutCancel(ctx), e); err != nil {
		c.cfg.Logger.ErrorContext(ctx, "console: audit entry lost", "entry", e, "err", err)
	}
}
