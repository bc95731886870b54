// Package audit is the audit log of apps: who did what to an app, and when.
//
// An [Entry] records one change. The operation that makes the change writes the entry in
// the same transaction, so that neither exists without the other. Entries are kept for
// [Retention].
package audit

import (
	"iter"
	"time"

	"github.com/partnerkit/partnerkit/internal/audited"
)

// Retention is how long entries are kept.
const Retention = 365 * 24 * time.Hour

// Entry is one change to an app: who made it, and when.
type Entry struct {
	ID     string // aud_…, sorted by time
	AppID  string // empty when it is about no app
	UserID string // empty when the service itself made it
	// ByDeveloper reports whether it was made in the developer console. The app's developers
	// do not see the UserID of any other entry.
	ByDeveloper bool
	// Token is the name of the console token with which it was made; empty: the user was
	// signed in.
	Token  string
	Action Action
	// Target is the id of what was changed, if that is not the app.
	Target string
	// Detail describes the change; may be empty.
	Detail string
	// Reason is the reason that an operator gave; empty in entries of others.
	Reason string
	At     time.Time
}

// Query asks for entries: those of an app, all of them, or those about no app that
// developers made for one of some organizations.
type Query struct {
	AppID           string   // empty: All or OrganizationIDs are asked for
	All             bool     // ignored when AppID is set
	OrganizationIDs []string // ignored when AppID or All is set

	UserID       string    // only entries of this user; empty: of any user
	Action       Action    // only entries of this kind; empty: of any kind
	Since, Until time.Time // only entries from Since on and before Until; zero: at any time

	Before string // only entries with a smaller id; empty: from the newest on
	Limit  int
}

// Action is the kind of a change, such as "app.suspended"; see [Actions].
type Action string

// Actions returns the known actions, each with a word of description, in groups: what people
// decide about an app, what its developers do, what the service does by itself, and what reviewers
// and operators do.
func Actions() iter.Seq2[Action, string] {
	return func(yield func(Action, string) bool) {
		for _, one := range audited.Known {
			if !yield(Action(one.Action), one.Words) {
				return
			}
		}
	}
}
