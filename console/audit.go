package console

import (
	"context"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

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

// changeApp is change for an app of one of the actor's organizations, with the errors of
// [Actor.mayChange].
func (c *Console) changeApp(ctx context.Context, by Actor, appID string, do func(ctx context.Context, app partner.App) (audit.Entry, error)) error {
	return c.changeAppIf(ctx, by.mayChange, appID, do)
}

// changeAppIf is change for an app. It locks the app first, and may and do get the app as it
// stands: whether the app can be changed is decided in the transaction of the change, so that
// an app that is deactivated at the same time is changed before that or not at all.
func (c *Console) changeAppIf(ctx context.Context, may func(partner.App) error, appID string, do func(ctx context.Context, app partner.App) (audit.Entry, error)) error {
	return c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		app, err := c.cfg.Store.LockApp(ctx, appID)
		if err == nil {
			err = may(app)
		}
		if err != nil {
			return audit.Entry{}, absent("app", err)
		}
		return do(ctx, app)
	})
}

// checkVersion returns CONFLICT if a change is based on another version than the last one.
func checkVersion(sent *int64, last int64) error {
	if sent != nil && *sent != last {
		return codes.Conflict.New()
	}
	return nil
}

// did returns the entry of something that an actor does in the console.
func (a Actor) did(action audit.Action, appID, target string) audit.Entry {
	return audit.Entry{AppID: appID, UserID: a.userID, ByDeveloper: true, Action: action, Target: target, Token: a.token}
}
