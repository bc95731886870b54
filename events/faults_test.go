package events_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// A storage error is a 5xx at any statement, and the next call works.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	here := k.record("biz_1", "invoice.created")[0]
	for _, target := range []string{"/events?after=" + here.ID, "/events/" + here.ID} {
		struck := 0
		for n := 1; ; n++ {
			k.Store.Tap.Arm(testdb.FaultError, n)
			got := k.call(token, target)
			if !k.Store.Tap.Struck() {
				break
			}
			struck++
			got.refused(http.StatusInternalServerError, "")
		}
		if struck < 2 {
			t.Errorf("%s: %d places", target, struck)
		}
		k.Store.Tap.Reset()
		if got := k.call(token, target); got.Status != http.StatusOK {
			t.Errorf("%s, afterwards: %d %s", target, got.Status, got.Body)
		}
	}
}

// What a page costs: look for what has no number, find the cursor, read.
func TestStatementsOfAPage(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	here := k.record("biz_1", "invoice.created", "invoice.paid")
	k.call(token, "/events").shows(here...)
	k.Store.Tap.Reset()
	k.call(token, "/events?after="+here[0].ID).shows(here[1])
	const verify = 1
	if statements, commits := k.Store.Tap.Counts(); statements != verify+3 || commits != 0 {
		t.Errorf("%d statements and %d commits", statements, commits)
	}
}

// A reader that would have to number waits for the host's transaction, on a
// database with one writer, and not for ever.
func TestBusyStore(t *testing.T) {
	t.Parallel()
	k := newAPIOn(t, func(t testing.TB) storage.DB {
		return testdb.SQLiteWith(t, sqlite.Config{WriteWait: 20 * time.Millisecond})
	}, events.Catalog{})
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	here := k.record("biz_1", "invoice.created")
	tx, err := k.Store.BeginTx(t.Context())
	k.Must(err)
	k.call(token, "/events").refused(http.StatusServiceUnavailable, "")
	k.Must(tx.Rollback())
	k.call(token, "/events").shows(here...)
}

// A shape that fails is an internal error, for a list and for one event.
func TestShapeThatFails(t *testing.T) {
	t.Parallel()
	catalog, err := events.NewCatalog(parcel(func(d *events.Definition) {
		d.Scope, d.Older = "invoices:read", []events.Shape{{Before: "2026-09-01", Down: func(data json.RawMessage) (json.RawMessage, error) {
			if string(data) != "{}" {
				return nil, errors.New("not as in the sample")
			}
			return data, nil
		}}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	k := newAPIOn(t, testdb.SQLite, catalog)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	here := k.record("biz_1", "parcel.sent")
	k.call(token, "/events").shows(here...)
	for _, target := range []string{"/events", "/events/" + here[0].ID} {
		k.call(token, target, "Service-Version", "2026-01-15").refused(http.StatusInternalServerError, "")
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := events.New(events.Config{}); err == nil || err.Error() != "events: Config.Store is nil" {
		t.Errorf("without a store: %v", err)
	}
}
