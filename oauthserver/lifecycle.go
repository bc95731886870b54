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
)

// Uninstall ends an app's installation as the business does when it removes the
// app: nothing issued under it works on. It records app.uninstalled, and
// business.redact is due 48 hours later; [ErrNotFound] when it is not installed. The
// audit log tells that the user did it; an empty userID means the service itself.
func (s *Server) Uninstall(ctx context.Context, appID, businessID, userID string) error {
	return s.endInstallation(ctx, EndInstallation{AppID: appID, BusinessID: businessID, Status: InstallationRemoved}, audit.Uninstalled, userID)
}

// RevokeAccess is Uninstall by a business that withdraws its trust. A refresh
// then answers "revoked".
func (s *Server) RevokeAccess(ctx context.Context, appID, businessID, userID string) error {
	return s.endInstallation(ctx, EndInstallation{AppID: appID, BusinessID: businessID, Status: InstallationRevoked}, audit.AccessRevoked, userID)
}

func (s *Server) endInstallation(ctx context.Context, end EndInstallation, action audit.Action, userID string) error {
	now := s.cfg.Clock.Now()
	end.Now, end.RedactAt = now, now.Add(RedactDelay)
	end.Record = func(i Installation) []events.Event { return installationEvent(events.AppUninstalled, i, now) }
	end.Audit = audit.Entry{ID: id.New(id.Audit, now), AppID: end.AppID, UserID: userID, Action: action, Target: end.BusinessID, At: now}
	_, err := s.cfg.Store.EndInstallation(ctx, end)
	return err
}

// RevokeConsent ends one user's consent: what was issued on it no longer works,
// the installation and other users' consents stay; [ErrNotFound]. The audit log tells
// that the user did it.
func (s *Server) RevokeConsent(ctx context.Context, appID, businessID, userID string) error {
	now := s.cfg.Clock.Now()
	return s.cfg.Store.EndGrant(ctx, EndGrant{
		AppID: appID, BusinessID: businessID, UserID: userID, Now: now,
		Audit: audit.Entry{ID: id.New(id.Audit, now), AppID: appID, UserID: userID, Action: audit.ConsentRevoked, Target: businessID, At: now},
	})
}

// SetInstallationScopes narrows or widens what a business has granted, and
// records app.scopes_updated when that changes it; [ErrNotFound]. Live tokens
// never gain a scope by it.
func (s *Server) SetInstallationScopes(ctx context.Context, appID, businessID string, scopes identity.Scopes) error {
	now := s.cfg.Clock.Now()
	_, err := s.cfg.Store.SetInstallationScopes(ctx, appID, businessID, scopes, func(before, after Installation) []events.Event {
		if before.Scopes.Equal(after.Scopes) {
			return nil
		}
		return installationEvent(events.AppScopesUpdated, after, now)
	})
	return err
}

// SetAppStatus suspends, deactivates or reactivates an app; [ErrNotFound], and
// [ErrDeactivated] for one that was deactivated: that is final.
func (s *Server) SetAppStatus(ctx context.Context, appID string, status AppStatus) error {
	switch status {
	case AppActive, AppSuspended, AppDeactivated:
		return s.cfg.Store.SetAppStatus(ctx, appID, status)
	}
	return fmt.Errorf("set app status: %q is not a status", status)
}

// SetReviewed completes an app's review, or takes that back; [ErrNotFound].
func (s *Server) SetReviewed(ctx context.Context, appID string, reviewed bool) error { //nolint:revive // the value, not a switch
	_, err := s.cfg.Store.UpdateApp(ctx, appID, func(a App) (App, error) {
		a.Reviewed = reviewed
		return a, nil
	})
	return err
}

// SetUserStatus suspends or restricts a user, or lifts that. Tokens of a user
// who is not ACTIVE are refused, and none are issued.
func (s *Server) SetUserStatus(ctx context.Context, userID string, status UserStatus) error {
	switch status {
	case UserActive, UserSuspended, UserRestricted:
		return s.cfg.Store.SetUserStatus(ctx, userID, status, s.cfg.Clock.Now())
	}
	return fmt.Errorf("set user status: %q is not a status", status)
}

// approvalEvents tells what an approval did.
func approvalEvents(now time.Time) func(Approved) []events.Event {
	return func(a Approved) []events.Event {
		switch {
		case a.Installed:
			return installationEvent(events.AppInstalled, a.Installation, now)
		case a.Widened:
			return installationEvent(events.AppScopesUpdated, a.Installation, now)
		}
		return nil
	}
}

// installationEvent is one event of an app's own life.
func installationEvent(name string, i Installation, now time.Time) []events.Event {
	data, err := json.Marshal(map[string]any{
		"installationId": i.ID, "businessId": i.BusinessID, "scopes": i.Scopes.Names(),
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return []events.Event{{
		ID: id.New(id.Event, now), Type: name, BusinessID: i.BusinessID, AppID: i.AppID, Data: data, CreatedAt: now,
	}}
}
