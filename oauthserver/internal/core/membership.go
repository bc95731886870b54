package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// MemberLeft notes that a user has left a business, and tells the host once.
func (c *Core) MemberLeft(ctx context.Context, businessID, userID string) error {
	if userID == "" { // custom connections have none
		return errors.New("member left: no user id")
	}
	return c.setMembership(ctx, oauthstore.Membership{BusinessID: businessID, UserID: userID, HasLeft: true})
}

// NoteMembership notes that the user of a token has left the business or has come back, if
// the user's consent does not say so yet.
func (c *Core) NoteMembership(ctx context.Context, of oauthstore.Standing, isMember bool) error { //nolint:revive // the value, not a switch
	if of.GrantID == "" || of.GrantLeft != isMember {
		return nil
	}
	err := c.setMembership(ctx, oauthstore.Membership{BusinessID: of.BusinessID, UserID: of.UserID, HasLeft: !isMember})
	if err != nil {
		return apierror.Failed("note the membership", err)
	}
	return nil
}

func (c *Core) setMembership(ctx context.Context, m oauthstore.Membership) error {
	m.Now = c.Clock.Now()
	apps, err := c.Store.SetMembership(ctx, m)
	if err != nil {
		return fmt.Errorf("set membership: %w", err)
	}
	for _, app := range apps {
		c.Tell(ctx, events.Notification{Kind: events.NotifyConnectionOrphaned, AppID: app, BusinessID: m.BusinessID, UserID: m.UserID})
	}
	return nil
}

// IsMember reports whether the user is still a member of the business. A user who has left
// the business can no longer act in it.
func (c *Core) IsMember(ctx context.Context, businessID, userID string) (bool, error) {
	member, err := c.Host.IsMember(ctx, businessID, userID)
	if err != nil {
		return false, apierror.Failed("ask the host for membership", err)
	}
	return member, nil
}
