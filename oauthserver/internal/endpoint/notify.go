package endpoint

import (
	"context"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// tellReuse notifies that a refresh token was presented a second time.
func (s *Server) tellReuse(ctx context.Context, token oauthstore.Owners) {
	s.Tell(ctx, events.Notification{
		Kind: events.NotifyReuseDetected, AppID: token.AppID, BusinessID: token.BusinessID, UserID: token.UserID,
	})
}

// tellLockout notifies that the caller was locked out.
func (s *Server) tellLockout(ctx context.Context, c call) {
	s.Tell(ctx, events.Notification{Kind: events.NotifyClientLockedOut, ClientID: c.credentials.ClientID, Detail: c.ip.String()})
}
