package console

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// AuditRetention is how long entries of the audit log are kept.
const AuditRetention = 365 * 24 * time.Hour

// What people do to an app elsewhere than in the console. A host records the last
// two with [Console.RecordAct].
const (
	ActionConsentAllowed = "consent.allowed"
	ActionConsentDenied  = "consent.denied"
	ActionDeviceAllowed  = "device.allowed"
	ActionDeviceDenied   = "device.denied"
	ActionAccessRevoked  = "access.revoked"
	ActionUninstalled    = "app.uninstalled"
)

// AuditStore keeps who did what.
type AuditStore interface {
	// RecordAudit adds an entry.
	RecordAudit(ctx context.Context, e AuditEntry) error
	// Audit lists entries of an app, newest first, that are before an entry; an
	// empty id means from the newest on.
	Audit(ctx context.Context, appID, before string, limit int) ([]AuditEntry, error)
	// OrganizationAudit lists entries about no app whose target is one of the
	// organizations, likewise.
	OrganizationAudit(ctx context.Context, organizationIDs []string, before string, limit int) ([]AuditEntry, error)
	// PurgeAudit deletes entries from before a time, oldest first and at most
	// limit, and returns how many.
	PurgeAudit(ctx context.Context, before time.Time, limit int) (int, error)
}

// AuditEntry is one thing that somebody did.
type AuditEntry struct {
	ID     string // aud_…, sorted by time
	AppID  string // empty when it is about no app
	UserID string
	// ByDeveloper says that it was done in the console. Whatever else there is was
	// done by somebody whose name is no business of the app's developers.
	ByDeveloper bool
	Action      string // such as webhook.created
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
// nothing.
func (c *Console) did(ctx context.Context, a act, target string) {
	c.record(ctx, AuditEntry{AppID: a.appID, UserID: a.by.userID, ByDeveloper: true, Action: a.action, Target: target})
}

// RecordAct puts something into the audit log that a person did to an app elsewhere,
// after it was done: a host calls it when a business revokes an app's access or
// uninstalls it. ID, ByDeveloper and At of the entry are set here.
func (c *Console) RecordAct(ctx context.Context, e AuditEntry) {
	e.ByDeveloper = false
	c.record(ctx, e)
}

// RecordDecision is RecordAct for oauthserver.Config.Decided.
func (c *Console) RecordDecision(ctx context.Context, d oauthserver.Decision) {
	action := ActionConsentDenied
	switch {
	case d.OnDevice && d.Allowed:
		action = ActionDeviceAllowed
	case d.OnDevice:
		action = ActionDeviceDenied
	case d.Allowed:
		action = ActionConsentAllowed
	}
	c.RecordAct(ctx, AuditEntry{AppID: d.AppID, UserID: d.UserID, Action: action, Target: d.BusinessID})
}

// record adds an entry. That it cannot be written does not undo the act; the log of
// the operator has it then.
func (c *Console) record(ctx context.Context, e AuditEntry) {
	e.At = c.cfg.Clock.Now()
	e.ID = id.New(id.Audit, e.At)
	if err := c.cfg.Store.RecordAudit(context.WithoutCancel(ctx), e); err != nil {
		c.cfg.Logger.ErrorContext(ctx, "console: audit entry lost", "entry", e, "err", err)
	}
}
