package core

import (
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// NewTokens describes a pair of tokens to the store, and whether their user is a member of
// the business.
func (c *Core) NewTokens(p tokenpair.Pair, now time.Time, isMember bool) oauthstore.NewTokens {
	n := oauthstore.NewTokens{
		NotMember:     !isMember,
		Now:           now,
		AccessID:      p.Access.TokenID(),
		AccessDigest:  p.Access.Digest(),
		AccessExpires: now.Add(c.Lifetimes.AccessToken),
	}
	if !p.Refresh.IsZero() {
		n.FamilyID = id.New(id.Family, now)
		n.RefreshID = p.Refresh.TokenID()
		n.RefreshDigest = p.Refresh.Digest()
		n.RefreshExpires = now.Add(c.Lifetimes.RefreshToken)
	}
	return n
}
