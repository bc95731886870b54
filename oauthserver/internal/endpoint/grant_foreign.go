package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// foreignPerIP is how many foreign refresh tokens an address may present.
var foreignPerIP = ratelimit.Limit{Count: 60, Window: time.Minute}

// grantForeign exchanges a refresh token of another server for tokens of ours. The token starts a
// family as if it had been rotated: it works once, on one of all nodes, and presenting it again
// ends the family.
func (s *Server) grantForeign(ctx context.Context, c call, client authenticatedClient, text string) (tokenResponse, error) {
	var none tokenResponse
	asked := ratelimit.Request{Counters: ratelimit.Counters{{Key: ratelimit.NewIPKey("foreign token", c.ip), Limit: foreignPerIP}}}
	if err := s.check(ctx, c.now, asked); err != nil {
		return none, err
	}
	digest := secret.DigestOf(text)
	use := oauthstore.ForeignUse{Digest: digest, AppID: client.ID}
	switch started, err := s.cfg.Store.EndForeignFamily(ctx, use, c.now); {
	case errors.Is(err, partner.ErrNotFound): // it was not used
	case err != nil:
		return none, apierror.Failed("find foreign refresh token", err)
	case started.HadEnded:
		return none, oautherror.Grant(oautherror.GrantRevoked)
	default:
		s.tellReuse(ctx, oauthstore.Owners{AppID: client.ID, BusinessID: started.BusinessID, UserID: started.UserID})
		return none, oautherror.Grant(oautherror.GrantReuseDetected)
	}
	granted, ok, err := s.cfg.ForeignRefreshTokens(ctx, client.ClientID, text)
	switch {
	case err != nil:
		return none, apierror.Failed("ask the host for a foreign refresh token", err)
	case !ok:
		return none, oautherror.Grant(oautherror.GrantUnexplained)
	case !c.now.Before(granted.ExpiresAt):
		return none, oautherror.Grant(oautherror.GrantExpired)
	}
	use.BusinessID, use.UserID, use.Scopes = granted.BusinessID, granted.UserID, granted.Scopes
	narrow, err := c.scopesWithin(granted.Scopes, "not granted: ")
	if err != nil {
		return none, err
	}
	if !narrow.IsEmpty() {
		use.Narrow = narrow
	}
	member, err := s.IsMember(ctx, use.BusinessID, use.UserID)
	if err != nil {
		return none, err
	}
	tokens := tokenpair.New(c.now)
	issued, err := s.cfg.Store.RedeemForeign(ctx, use, s.NewTokens(tokens, c.now, member))
	if err != nil {
		return none, apierror.Failed("redeem foreign refresh token", err)
	}
	if issued.Outcome == oauthstore.Lost {
		s.tellReuse(ctx, oauthstore.Owners{AppID: client.ID, BusinessID: use.BusinessID, UserID: use.UserID})
	}
	return s.respond(ctx, c, tokens, issued, reasons{lost: oautherror.GrantReuseDetected, revoked: oautherror.GrantRevoked})
}
