package racetest

import (
	"context"
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// answer is the result that an operation returned to its caller.
type answer = storetest.Answer

const fault answer = "fault" // an unexpected error

// operation is an operation of the table of package storetest that races.
type operation struct {
	storetest.Operation
	name  string
	group group
}

// A group is a set of operations that race with each other.
type group string

const (
	onTokens group = "tokens" // OAuth
	onKeys   group = "keys"   // idempotency keys
	onApps   group = "apps"   // app data, and what developers and reviewers change about an app
	onQueue  group = "queue"  // events and deliveries
)

var allGroups = []group{onTokens, onKeys, onApps, onQueue}

var operations = racing()

func racing() (found []operation) {
	groups := map[string]group{"oauthserver": onTokens, "guard": onKeys, "appdata": onApps, "console": onApps, "webhooks": onQueue}
	for _, o := range storetest.Operations() {
		if in, ok := groups[o.Of]; ok && !o.IsAlone {
			found = append(found, operation{o, o.Name, in})
		}
	}
	return found
}

// The operations of OAuth. Redeem, poll and collect present a code; burn presents a used
// code, replay a used refresh token, and spend a code with a wrong redirect_uri.
const (
	redeem        = "redeem code"
	refresh       = "refresh"
	replay        = "replay"
	burn          = "burn"
	spend         = "spend code"
	revoke        = "revoke"
	uninstall     = "uninstall"
	revokeAccess  = "revoke access"
	revokeConsent = "revoke consent"
	deactivate    = "deactivate app"
	approve       = "approve device"
	deny          = "deny device"
	poll          = "poll device"
	collect       = "collect device"
	exchange      = "exchange"
	takeOver      = "take over connection"
	takerApproves = "approve device as the taker"
)

// mayAnswer reports whether an answer is one of the operation's.
func (a operation) mayAnswer(got answer) bool {
	return len(a.Answers) == 0 || slices.Contains(a.Answers, got)
}

// Operations returns the names of all operations.
func Operations() (names []string) {
	for _, a := range operations {
		names = append(names, a.name)
	}
	return names
}

func operationNamed(name string) (operation, bool) {
	i := slices.IndexFunc(operations, func(a operation) bool { return a.name == name })
	if i < 0 {
		return operation{}, false
	}
	return operations[i], true
}

// operationsIn returns the operations of a group.
func operationsIn(in group) []operation {
	return slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return o.group != in })
}

// scenario is the scene in which operations race.
type scenario struct {
	*storetest.Scene
	acts []storetest.Act // by contender
}

// do performs the operation of a contender on a store.
func (sc *scenario) do(ctx context.Context, contender int, on *sqlstore.Store) (answer, error) {
	got, err := sc.acts[contender].Do(ctx, on)
	if err != nil {
		return fault, err
	}
	return got, nil
}

// scenario creates a scene and prepares the operations in it.
func (e *explorer) scenario(operations []operation) (*scenario, error) {
	sc := &scenario{}
	var entries []storetest.Operation
	for _, o := range operations {
		entries = append(entries, o.Operation)
	}
	return sc, storetest.Attempt(e.t, func(t testing.TB) {
		sc.Scene = storetest.NewScene(t, e.store)
		sc.acts = sc.Prepare(t, entries...)
	})
}
