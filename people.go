package partnerkit

import (
	"context"

	"github.com/partnerkit/partnerkit/partner"
)

// EraseUser ends the consents and the tokens of a user and removes the user's id from
// everything that the platform keeps, the audit log included. It reports what it did, and
// can be repeated. The host ends the user's sessions and memberships first. See
// [oauthserver.Server.EraseUser].
func (p *Platform) EraseUser(ctx context.Context, userID string) (partner.Erasure, error) {
	return p.oauth.EraseUser(ctx, userID)
}

// MemberLeft tells the platform that a user is no longer a member of a business. The Notifier
// receives connection.orphaned for each CONFIDENTIAL app that the user had connected there,
// before the app's next call is rejected. See [oauthserver.Server.MemberLeft].
func (p *Platform) MemberLeft(ctx context.Context, businessID, userID string) error {
	return p.oauth.MemberLeft(ctx, businessID, userID)
}

// EraseBusiness uninstalls all apps in a business and removes what is kept of it. It reports what
// it did, and is repeated until nothing is left: events and deliveries stay until the apps have
// been told. See [oauthserver.Server.EraseBusiness].
func (p *Platform) EraseBusiness(ctx context.Context, businessID string) (partner.BusinessErasure, error) {
	return p.oauth.EraseBusiness(ctx, businessID, "")
}
