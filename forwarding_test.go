package partnerkit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
)

// silent is a store that gives no hints.
type silent struct{ partnerkit.Store }

func (silent) Watch(string) *storage.Hints { return nil }
func (silent) Wake(string)                 {}

// counting is a store around another one, as docs/store.md has it: it counts the events that
// are recorded in transactions.
type counting struct {
	partnerkit.Store
	recorded *[]partner.Event
}

func (s counting) RecordEventsIn(ctx context.Context, tx storage.Tx, recorded ...partner.Event) error {
	*s.recorded = append(*s.recorded, recorded...)
	return s.Store.RecordEventsIn(ctx, tx, recorded...)
}

// An event that a host records in its transaction goes through a store that wraps ours, and
// is there after the commit only.
func TestRecordInGoesThroughWrapper(t *testing.T) {
	t.Parallel()
	var seen []partner.Event
	store := counting{config(t).Store, &seen}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Store = store })
	app := h.Connect(partnertest.ConnectOptions{})
	data := map[string]any{"installationId": "ins_1", "businessId": partnertest.Business, "scopes": []string{}}
	draft := events.Draft{Type: events.AppScopesUpdated, BusinessID: partnertest.Business, AppID: app.ID, Data: data}
	undone := errors.New("undone")
	for _, end := range []error{undone, nil} {
		seen = nil
		err := store.InTx(t.Context(), func(tx storage.Tx) error {
			_, err := h.Events().RecordIn(t.Context(), tx, draft)
			return errors.Join(err, end)
		})
		if !errors.Is(err, end) || len(seen) != 1 {
			t.Fatalf("InTx returned %v, and the wrapper saw %d events", err, len(seen))
		}
		kept, err := store.Events(t.Context(), eventstore.Query{BusinessID: partnertest.Business, EventID: seen[0].ID})
		if err != nil || (len(kept) == 1) != (end == nil) {
			t.Errorf("after %v: %v, %v", end, kept, err)
		}
	}
	if _, err := h.Events().RecordIn(t.Context(), nil, draft); err == nil {
		t.Error("recorded without a transaction")
	}
}

// A platform works on a store that gives no hints: apps call the API, and an event reaches its
// webhook.
func TestPlatformOnSilentStore(t *testing.T) {
	t.Parallel()
	store := silent{config(t).Store}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Store = store
		c.Routes = []guard.Route{{Pattern: "POST /invoices", Scope: "invoices:write", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusCreated, map[string]string{"id": "inv_1"})
		}}}
	})
	app := h.Connect(partnertest.ConnectOptions{})
	app.Do(http.MethodPost, "/invoices", struct{}{}).Want(http.StatusCreated)
	receiver := h.Receiver(app, events.AppScopesUpdated)
	h.Record(events.Draft{Type: events.AppScopesUpdated, AppID: app.ID, Data: struct{}{}})
	receiver.Expect(events.AppScopesUpdated)
}
