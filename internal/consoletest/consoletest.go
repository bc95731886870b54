// Package consoletest makes what a developer console stands on, for the tests of the console
// and of its pages: developers, and the real features over a store.
package consoletest

import (
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/jscheck"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/webhooks"
)

// The developers. Ann and Ben are of one organization, Ben of another one too, Eve of a third,
// Zoe of none.
const (
	Ann = "usr_ann"
	Ben = "usr_ben"
	Eve = "usr_eve"
	Zoe = "usr_zoe"
)

// NewHost returns a host with the developers.
func NewHost() *partnertest.Host {
	h := partnertest.NewHost()
	h.AddOrganization(Ann, console.Organization{ID: "org_1", Name: "One"})
	h.AddOrganization(Ben, console.Organization{ID: "org_1", Name: "One"})
	h.AddOrganization(Ben, console.Organization{ID: "org_2", Name: "Two"})
	h.AddOrganization(Eve, console.Organization{ID: "org_3", Name: "Three"})
	return h
}

// Features are what a console shows.
type Features struct {
	Hooks  *webhooks.Service
	Calls  *analytics.Counter
	Events *events.Log
}

// Add makes the features on a store, with the clock and the logger of the configuration of a
// console, and adds them to it.
func Add(t testing.TB, store *testdb.Env, cfg *console.Config) (f Features) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	f.Hooks, err = webhooks.New(webhooks.Config{
		Store: store, Keyring: fixture.Keyring(1), CurrentVersion: "2026-09-01", Clock: cfg.Clock, Logger: cfg.Logger, Options: webhooks.Options{AllowLoopback: true},
	})
	must(err)
	f.Calls, err = analytics.New(analytics.Config{Store: store, Clock: cfg.Clock})
	must(err)
	f.Events, err = events.New(events.Config{Store: store, Clock: cfg.Clock})
	must(err)
	data, err := appdata.New(appdata.Config{Store: store, Records: records{}, Clock: cfg.Clock})
	must(err)
	cfg.Store, cfg.Webhooks, cfg.Analytics, cfg.AppData = store, f.Hooks, f.Calls, data
	cfg.Versions, cfg.FunctionChecker = []string{"2026-01-15", "2026-09-01"}, console.FunctionCheckerFunc(jscheck.Check)
	return f
}

// records are those of the host, of which a console asks nothing.
type records struct{ appdata.Records }
