package oauthserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Uninstall ends the installation of an app that a business removes, and with it all of its
// tokens. It records app.uninstalled; business.redact is due Lifetimes.RedactDelay later. It returns
// [partner.ErrNotFound] if the app is not installed. The audit log names the user; an empty userID
// means the service itself.
func (s *Server) Uninstall(ctx context.Context, appID, businessID, userID string) error {
	return s.endInstallation(ctx, oauthstore.EndInstallation{AppID: appID, BusinessID: businessID, Status: partner.InstallationRemoved}, audit.Uninstalled, userID)
}

// RevokeAccess is Uninstall by a business that withdraws its trust. A refresh
// then fails with the reason "revoked".
func (s *Server) RevokeAccess(ctx context.Context, appID, businessID, userID string) error {
	return s.endInstallation(ctx, oauthstore.EndInstallation{AppID: appID, BusinessID: businessID, Status: partner.InstallationRevoked}, audit.AccessRevoked, userID)
}

func (s *Server) endInstallation(ctx context.Context, end oauthstore.EndInstallation, action audit.Action, userID string) error {
	now := s.cfg.Clock.Now()
	if end.Now = now; end.RedactAt.IsZero() {
		end.RedactAt = now.Add(s.cfg.Lifetimes.RedactDelay)
	}
	end.Record = func(i partner.Installation) []partner.Event { return installationEvent(events.AppUninstalled, i, now) }
	end.Audit = audit.Entry{ID: id.New(id.Audit, now), AppID: end.AppID, UserID: userID, Action: action, Target: end.BusinessID, At: now}
	if _, err := s.cfg.Store.EndInstallation(ctx, end); err != nil {
		return err
	}
	kind := events.NotifyAppDisconnected
	if end.Status == partner.InstallationRevoked {
		kind = events.NotifyAccessRevoked
	}
	s.tell(ctx, events.Notification{Kind: kind, AppID: end.AppID, BusinessID: end.BusinessID, UserID: userID})
	return nil
}

// RevokeConsent ends one user's consent and the tokens that depend on it. The installation and
// other users' consents stay. It returns [partner.ErrNotFound]. The audit log names the user.
func (s *Server) RevokeConsent(ctx context.Context, appID, businessID, userID string) error {
	if userID == "" { // the approval of a custom connection is no consent
		return partner.ErrNotFound
	}
	now := s.cfg.Clock.Now()
	return s.cfg.Store.EndGrant(ctx, oauthstore.EndGrant{
		AppID: appID, BusinessID: businessID, UserID: userID, Now: now,
		Audit: audit.Entry{ID: id.New(id.Audit, now), AppID: appID, UserID: userID, Action: audit.ConsentRevoked, Target: businessID, At: now},
	})
}

// SetInstallationScopes narrows or widens what a business has granted, and
// records app.scopes_updated when that changes it; [partner.ErrNotFound]. Live tokens
// never gain a scope by it.
func (s *Server) SetInstallationScopes(ctx context.Context, appID, businessID string, scopes identity.Scopes) error {
	now := s.cfg.Clock.Now()
	changed := false
	after, err := s.cfg.Store.SetInstallationScopes(ctx, appID, businessID, scopes, func(before, after partner.Installation) []partner.Event {
		if changed = !before.Scopes.Equal(after.Scopes); !changed {
			return nil
		}
		return installationEvent(events.AppScopesUpdated, after, now)
	})
	if err == nil && changed {
		s.tell(ctx, events.Notification{Kind: events.NotifyScopesChanged, AppID: appID, BusinessID: businessID, Detail: after.Scopes.String()})
	}
	return err
}

// SetAppStatus suspends, deactivates or reactivates an app, without a reason; [partner.ErrNotFound], and
// [oauthstore.ErrDeactivated] for one that was deactivated: that is final.
func (s *Server) SetAppStatus(ctx context.Context, appID string, status partner.AppStatus) error {
	kind, ok := statusKinds[status]
	if !ok {
		return fmt.Errorf("set app status: %q is not a status", status)
	}
	var before partner.AppStatus
	_, err := s.cfg.Store.UpdateApp(ctx, appID, func(a partner.App) (partner.App, error) {
		before, a.Status, a.StatusReason = a.Status, status, ""
		return a, nil
	})
	if err != nil {
		return err
	}
	if before != status {
		s.tell(ctx, events.Notification{Kind: kind, AppID: appID})
	}
	return nil
}

// SetUserStatus sets the status of a user. Tokens of a user who is not ACTIVE are rejected, and
// none are issued.
func (s *Server) SetUserStatus(ctx context.Context, userID string, status identity.UserStatus) error {
	switch status {
	case identity.UserActive, identity.UserSuspended, identity.UserRestricted:
		return s.cfg.Store.SetUserStatus(ctx, userID, status, s.cfg.Clock.Now())
	}
	return fmt.Errorf("set user status: %q is not a status", status)
}

// approvalEvents returns the events of an approval.
func approvalEvents(now time.Time) func(oauthstore.Approved) []partner.Event {
	return func(a oauthstore.Approved) []partner.Event {
		switch {
		case a.Installed:
			return installationEvent(events.AppInstalled, a.Installation, now)
		case a.Widened:
			return installationEvent(events.AppScopesUpdated, a.Installation, now)
		}
		return nil
	}
}

// installationEvent returns an event about an installation, for its app.
func installationEvent(name string, i partner.Installation, now time.Time) []partner.Event {
	return appEvent(name, i, map[string]any{"installationId": i.ID, "businessId": i.BusinessID, "scopes": i.Scopes.Names()}, now)
}

// appEvent returns an event for the app of an installation.
func appEvent(name string, i partner.Installation, members map[string]any, now time.Time) []partner.Event {
	data, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings always encode
	}
	return []partner.Event{{
		ID: id.New(id.Event, now), Type: name, BusinessID: i.BusinessID, AppID: i.AppID, Data: data, CreatedAt: now,
	}}
}
