package operator

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/text"
)

// Actor is one of the platform's own staff. Only [Operator.Actor] makes one.
type Actor struct{ user User }

// UserID returns the id of the user, as the host has it.
func (a Actor) UserID() string { return a.user.ID }

// Name returns the name of the user, as the host has it.
func (a Actor) Name() string { return a.user.Name }

// Actor returns the operator who makes a request. Its error is one of apierror: 401 without
// a session, and 404 if the user of the session is not an operator or is suspended. A
// request with a bearer token is rejected with 401, even if it also has a session.
func (o *Operator) Actor(r *http.Request) (Actor, error) {
	if _, sent := header.Authorization(r.Header, "Bearer"); sent {
		return Actor{}, apierror.Unauthorized()
	}
	session, ok, err := o.cfg.Host.Session(r)
	if err != nil {
		return Actor{}, err
	}
	if !ok {
		return Actor{}, apierror.Unauthorized()
	}
	user, ok, err := o.operator(r.Context(), session.UserID)
	if err != nil {
		return Actor{}, err
	}
	if !ok {
		return Actor{}, apierror.NotFound("")
	}
	return Actor{user}, nil
}

// operator returns a user who has access as an operator, and false for everybody else. A
// suspended operator has none.
func (o *Operator) operator(ctx context.Context, userID string) (User, bool, error) {
	user, ok, err := o.user(ctx, userID)
	if err != nil || !ok || !user.IsOperator || user.ID != userID {
		return User{}, false, err
	}
	status, err := o.cfg.Store.UserStatus(ctx, userID)
	return user, err == nil && status != identity.UserSuspended, err
}

// IsNoOperator reports whether an error of [Operator.Actor] means that the request does not
// come from an operator, rather than that the check failed.
func IsNoOperator(err error) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && (e.Status() == http.StatusUnauthorized || e.Status() == http.StatusNotFound)
}

// did returns the entry of something that an operator does.
func (a Actor) did(action audit.Action, reason string) audit.Entry {
	return audit.Entry{UserID: a.user.ID, Action: action, Reason: reason}
}

// change makes one change and records its audit entry, in one transaction: both happen, or
// neither. The function do may run more than once.
func (o *Operator) change(ctx context.Context, do func(ctx context.Context) (audit.Entry, error)) error {
	now := o.cfg.Clock.Now()
	entryID := id.New(id.Audit, now)
	return o.cfg.Notifications.AfterCommit(ctx, o.cfg.Store.Transact, func(ctx context.Context) error {
		entry, err := do(ctx)
		if err != nil {
			return err
		}
		entry.ID, entry.At = entryID, now
		return o.cfg.Store.RecordAudit(ctx, entry)
	})
}

// maxReason is how much an operator may give as a reason, in characters.
const maxReason = 2000

// checkReason wants a reason for the audit log and the developers.
func checkReason(v *apierror.Validation, reason string) {
	if strings.TrimSpace(reason) == "" {
		v.Add("reason", "is required")
	}
	checkNote(v, "reason", reason)
}

func checkNote(v *apierror.Validation, name, note string) {
	switch {
	case utf8.RuneCountInString(note) > maxReason:
		v.Add(name, "must have at most %d characters", maxReason)
	case !text.IsStorable(note):
		v.Add(name, "must be UTF-8 without NUL")
	default:
		if problem := text.LinesProblem(note); problem != "" {
			v.Add(name, "%s", problem)
		}
	}
}
