package partnerkit

import (
	"context"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// EraseUser ends the consents and the tokens of a user and removes the user's id from
// everything that the platform keeps, the audit log included. It reports what it did, and
// can be repeated. The host ends the user's sessions and memberships first. See
// [oauthserver.Server.EraseUser].
func (p *Platform) EraseUser(ctx context.Context, userID string) (oauthserver.Erasure, error) {
	return p.oauth.EraseUser(ctx, userID)
}
