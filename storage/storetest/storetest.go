// Package storetest is the conformance suite for stores.
//
// To test an implementation of [partnerkit.Store], call [Run] with a function that opens an
// empty store. The suite uses only the methods of the interface. It checks the effect of
// each operation, that exactly one of several concurrent operations wins, that limits hold,
// that revoked records stay revoked, and that an operation whose context is cancelled has
// happened completely or not at all. docs/store.md lists these requirements.
//
// To test a database under sqlstore, call [RunSQL] too.
package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/storage"
)

// Run checks an implementation of [partnerkit.Store] through its methods: their effects,
// their races, and cancelled contexts. Each case opens an empty store; open must close the
// store when t ends. There is a subtest for each consumer of the store, such as
// "oauthserver" and "webhooks".
func Run(t *testing.T, open func(t testing.TB) partnerkit.Store) { storetest.Run(t, open) }

// RunSQL checks a database under sqlstore: the contract of [storage.DB], transactions of the
// host, the rows that operations leave, the number of their statements and the query plans,
// and every operation of the store with an error at each of its statements. Each case opens an
// empty database, which open must close and remove when t ends.
func RunSQL(t *testing.T, open func(t testing.TB) storage.DB) { storetest.RunSQL(t, open, open) }

// RunSending runs only the cases of webhooks and deliveries, from both suites. It is for a
// database whose delivery tables were changed, for example partitioned.
func RunSending(t *testing.T, open func(t testing.TB) storage.DB) { storetest.RunSending(t, open) }
