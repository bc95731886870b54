package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Uninstall ends the installation of an app that a business removes.
func (c *Core) Uninstall(ctx context.Context, appID, businessID, userID string) error {
	return c.EndInstallation(ctx, oauthstore.EndInstallation{AppID: appID, BusinessID: businessID, Status: partner.InstallationRemoved}, audited.Uninstalled, userID)
}

// RevokeAccess ends the installation of an app that a business no longer trusts.
func (c *Core) RevokeAccess(ctx context.Context, appID, businessID, userID string) error {
	return c.EndInstallation(ctx, oauthstore.EndInstallation{AppID: appID, BusinessID: businessID, Status: partner.InstallationRevoked}, audited.AccessRevoked, userID)
}

// EndInstallation ends an installation and tells the app and the host.
func (c *Core) EndInstallation(ctx context.Context, end oauthstore.EndInstallation, action audit.Action, userID string) error {
	now := c.Clock.Now()
	if end.Now = now; end.RedactAt.IsZero() {
		end.RedactAt = now.Add(c.Lifetimes.RedactDelay)
	}
	end.Record = func(i partner.Installation) []partner.Event { return InstallationEvent(events.AppUninstalled, i, now) }
	end.Audit = audit.Entry{ID: id.New(id.Audit, now), AppID: end.AppID, UserID: userID, Action: action, Target: end.BusinessID, At: now}
	if _, err := c.Store.EndInstallation(ctx, end); err != nil {
		return err
	}
	kind := events.NotifyAppDisconnected
	if end.Status == partner.InstallationRevoked {
		kind = events.NotifyAccessRevoked
	}
	c.Tell(ctx, events.Notification{Kind: kind, AppID: end.AppID, BusinessID: end.BusinessID, UserID: userID})
	return nil
}

// InstallationEvent returns an event about an installation, for its app.
func InstallationEvent(name string, i partner.Installation, now time.Time) []partner.Event {
	return AppEvent(name, i, map[string]any{"installationId": i.ID, "businessId": i.BusinessID, "scopes": i.Scopes.Names()}, now)
}

// AppEvent returns an event for the app of an installation.
func AppEvent(name string, i partner.Installation, members map[string]any, now time.Time) []partner.Event {
	data, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings always encode
	}
	return []partner.Event{{
		ID: id.New(id.Event, now), Type: name, BusinessID: i.BusinessID, AppID: i.AppID, Data: data, CreatedAt: now,
	}}
}
