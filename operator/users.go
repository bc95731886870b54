package operator

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// userActions are the statuses of a user and what setting them is called in the audit log.
var userActions = map[identity.UserStatus]audit.Action{
	identity.UserActive:     audited.UserReactivated,
	identity.UserSuspended:  audited.UserSuspended,
	identity.UserRestricted: audited.UserRestricted,
}

// UserDetails is a user and the status.
type UserDetails struct {
	User
	Status identity.UserStatus
}

// user returns a user of the host, with a name and an address that can be shown.
func (o *Operator) user(ctx context.Context, userID string) (User, bool, error) {
	user, ok, err := o.cfg.Host.User(ctx, userID)
	user.Name, user.Email = text.Line(user.Name), text.Line(user.Email)
	return user, ok, err
}

// User returns a user of the host; its error is one of apierror, 404 when there is none.
func (o *Operator) User(ctx context.Context, _ Actor, userID string) (UserDetails, error) {
	if userID == "" || !text.IsStorable(userID) {
		return UserDetails{}, apierror.NotFound("user")
	}
	user, ok, err := o.user(ctx, userID)
	if err != nil {
		return UserDetails{}, err
	}
	if !ok {
		return UserDetails{}, apierror.NotFound("user")
	}
	status, err := o.cfg.Store.UserStatus(ctx, userID)
	return UserDetails{user, status}, err
}

// checkUserStatus returns a validation error that names everything that is wrong.
func (a Actor) checkUserStatus(userID string, status identity.UserStatus, reason string) error {
	var v apierror.Validation
	if _, ok := userActions[status]; !ok {
		v.Add("status", "must be ACTIVE, SUSPENDED or RESTRICTED")
	}
	checkReason(&v, reason)
	if userID == a.user.ID {
		v.Add("", "you cannot change your own status")
	}
	return v.Err()
}

// SetUserStatus suspends, restricts or reactivates a user, with a reason for the audit log.
// Its error is one of apierror: 404, everything that is wrong, or that operators cannot
// change their own status.
func (o *Operator) SetUserStatus(ctx context.Context, by Actor, userID string, status identity.UserStatus, reason string) (UserDetails, error) {
	if err := by.checkUserStatus(userID, status, reason); err != nil {
		return UserDetails{}, err
	}
	action := userActions[status]
	user, err := o.User(ctx, by, userID)
	if err != nil {
		return UserDetails{}, err
	}
	err = o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		entry := by.did(action, reason)
		entry.Target = userID
		return entry, o.cfg.OAuth.SetUserStatus(ctx, userID, status)
	})
	user.Status = status
	return user, err
}

// EraseUser erases a user: from the host, and then from all that the platform keeps. It
// reports what it did, and can be repeated; a repetition completes an erasure that failed.
// The audit entry commits with the suspension by which all tokens of the user are dead, and
// does not have the user's id. Its error is one of apierror for the operator's own id.
func (o *Operator) EraseUser(ctx context.Context, by Actor, userID, reason string) (partner.Erasure, error) {
	var v apierror.Validation
	checkNote(&v, "reason", reason)
	if userID == by.user.ID {
		v.Add("", "you cannot erase yourself")
	}
	if userID == partner.ErasedUser || userID == "" || !text.IsStorable(userID) {
		return partner.Erasure{}, apierror.NotFound("user")
	}
	if err := v.Err(); err != nil {
		return partner.Erasure{}, err
	}
	err := o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		entry := by.did(audited.UserErased, reason)
		entry.Target = partner.ErasedUser
		return entry, o.cfg.OAuth.SetUserStatus(ctx, userID, identity.UserSuspended)
	})
	if err != nil {
		return partner.Erasure{}, err
	}
	if err := o.cfg.Host.EraseUser(ctx, userID); err != nil {
		return partner.Erasure{}, err
	}
	return o.cfg.OAuth.EraseUser(ctx, userID)
}
