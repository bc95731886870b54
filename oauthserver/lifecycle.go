package oauthserver

import (
	"context"
	"fmt"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Uninstall ends the installation of an app that a business removes, and with it all of its
// tokens. It records app.uninstalled; business.redact is due Lifetimes.RedactDelay later. It returns
// [partner.ErrNotFound] if the app is not installed. The audit log names the user; an empty userID
// means the service itself.
func (s *Server) Uninstall(ctx context.Context, appID, businessID, userID string) error {
	return s.core.Uninstall(ctx, appID, businessID, userID)
}

// RevokeAccess is Uninstall by a business that withdraws its trust. A refresh
// then fails with the reason "revoked".
func (s *Server) RevokeAccess(ctx context.Context, appID, businessID, userID string) error {
	return s.core.RevokeAccess(ctx, appID, businessID, userID)
}

// MemberLeft tells the server that a user is no longer a member of a business. For each
// CONFIDENTIAL app that the user had connected there it sends connection.orphaned to the
// Notifier, unless this departure was noticed before: the first call or refresh that is
// rejected because the user has left does the same. A host that calls MemberLeft need not wait
// for that. Call it after the membership has ended, since a call that finds the user a member
// takes the departure back.
//
// Nothing else depends on it: [Host.IsMember] decides about every call.
func (s *Server) MemberLeft(ctx context.Context, businessID, userID string) error {
	return s.core.MemberLeft(ctx, businessID, userID)
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
		Audit: audit.Entry{ID: id.New(id.Audit, now), AppID: appID, UserID: userID, Action: audited.ConsentRevoked, Target: businessID, At: now},
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
		return core.InstallationEvent(events.AppScopesUpdated, after, now)
	})
	if err == nil && changed {
		s.core.Tell(ctx, events.Notification{Kind: events.NotifyScopesChanged, AppID: appID, BusinessID: businessID, Detail: after.Scopes.String()})
	}
	return err
}

// statusKinds are the notifications of a new status of an app.
var statusKinds = map[partner.AppStatus]events.NotificationKind{
	partner.AppActive: events.NotifyAppReactivated, partner.AppSuspended: events.NotifyAppSuspended, partner.AppDeactivated: events.NotifyAppDeactivated,
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
		s.core.Tell(ctx, events.Notification{Kind: kind, AppID: appID})
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
