package oauthserver

import (
	"context"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// tell queues a notification of now.
func (s *Server) tell(ctx context.Context, n events.Notification) {
	n.At = s.cfg.Clock.Now()
	s.cfg.Notifications.Tell(ctx, n)
}

// tellApproved notifies of an approval by a user that connected an app or widened its scopes.
func (s *Server) tellApproved(ctx context.Context, a oauthstore.Approved, userID string) {
	n := events.Notification{
		AppID: a.App.ID, BusinessID: a.Installation.BusinessID, UserID: userID, Detail: a.Installation.Scopes.String(),
	}
	switch {
	case a.Outcome != oauthstore.ApprovalDone:
		return
	case a.Installed:
		n.Kind = events.NotifyAppConnected
	case a.Widened:
		n.Kind = events.NotifyScopesChanged
	default:
		return
	}
	s.tell(ctx, n)
}

// tellReuse notifies that a refresh token was presented a second time.
func (s *Server) tellReuse(ctx context.Context, token oauthstore.Owners) {
	s.tell(ctx, events.Notification{
		Kind: events.NotifyReuseDetected, AppID: token.AppID, BusinessID: token.BusinessID, UserID: token.UserID,
	})
}

// tellLockout notifies that the caller was locked out.
func (s *Server) tellLockout(ctx context.Context, c call) {
	s.tell(ctx, events.Notification{Kind: events.NotifyClientLockedOut, ClientID: c.credentials.ClientID, Detail: c.ip.String()})
}

// statusKinds are the notifications of a new status of an app.
var statusKinds = map[partner.AppStatus]events.NotificationKind{
	partner.AppActive: events.NotifyAppReactivated, partner.AppSuspended: events.NotifyAppSuspended, partner.AppDeactivated: events.NotifyAppDeactivated,
}
