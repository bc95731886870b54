package racetest

import (
	"context"
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// A group is a set of operations that race with each other.
type group string

const (
	onTokens group = "tokens" // OAuth: the operations of this package
	onKeys   group = "keys"   // idempotency keys
	onApps   group = "apps"   // app data, and what developers and reviewers change about an app
)

var allGroups = []group{onTokens, onKeys, onApps}

// tabled are the operations of the table of package storetest that race. They are checked by
// their answers and by all rows of their app, which must be those of a serial order.
func tabled() (found []operation) {
	groups := map[string]group{"guard": onKeys, "appdata": onApps, "console": onApps}
	for _, o := range storetest.Operations() {
		if in, ok := groups[o.Of]; ok && !o.IsAlone {
			found = append(found, operation{name: o.Name, group: in, entry: o, do: doEntry})
		}
	}
	return found
}

func doEntry(ctx context.Context, c call) (answer, error) {
	got, err := c.sc.acts[c.contender].Do(ctx, c.Store)
	if err != nil {
		return fault, err
	}
	return answer(got), nil
}

// newScene prepares operations of the table in one scene.
func (e *explorer) newScene(operations []operation) (*scenario, error) {
	sc := &scenario{prepared: make([]prepared, len(operations))}
	var entries []storetest.Operation
	for _, o := range operations {
		entries = append(entries, o.entry)
	}
	return sc, storetest.Attempt(e.t, func(t testing.TB) {
		sc.scene = storetest.NewScene(t, e.store)
		sc.acts = sc.scene.Prepare(t, entries...)
	})
}

// checkScene checks the end of a run of operations of the table.
func (sc *scenario) checkScene(ctx context.Context, s *sqlstore.Store, all []result) (v findings, err error) {
	v.outcome.rows, err = sc.scene.Digest(ctx, s, s.Dialect().Schema)
	for _, c := range all {
		v.outcome.answers = append(v.outcome.answers, c.answer)
		v.struck = append(v.struck, c.isStruck)
		if c.err != nil && !c.isStruck {
			v.add("vocabulary: %s answered %v", c.operation.name, c.err)
		}
	}
	return v, err
}

// operationsIn returns the operations of a group.
func operationsIn(in group) []operation {
	return slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return o.group != in })
}
