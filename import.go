package partnerkit

import (
	"context"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// Import adds apps, installations and consents of another OAuth server. Records that exist or have
// ended are skipped and reported, so that an import can be repeated. See
// [oauthserver.Server.Import] and docs/moving-in.md.
func (p *Platform) Import(ctx context.Context, batch oauthserver.Import) (oauthserver.ImportReport, error) {
	return p.oauth.Import(ctx, batch)
}
