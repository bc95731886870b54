package events_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// EVT-05: a reader sees its own writes, and what commits after a page comes after
// it, whenever it was recorded.
func TestOrderIsThatOfCommits(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	late := partner.Event{ID: id.New(id.Event, harness.Start), Type: "invoice.created", BusinessID: "biz_1", Data: json.RawMessage(`{}`), CreatedAt: harness.Start}
	first := k.record("biz_1", "invoice.created", "invoice.paid")
	cursor := k.call(token, "/events").shows(first...).Events[1].ID
	k.Must(k.Store.RecordEvents(t.Context(), late))
	k.call(token, "/events?after="+cursor).shows(late)
	k.call(token, "/events").shows(append(first, late)...)
	k.call(token, "/events?after="+late.ID).shows()
}

// A cursor that has no place yet is none: taken for one it would show everything.
func TestCursorThatCommitsDuringTheCall(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	k.record("biz_1", "invoice.created")
	late := partner.Event{ID: id.New(id.Event, harness.Start), Type: "invoice.created", BusinessID: "biz_1", Data: json.RawMessage(`{}`), CreatedAt: harness.Start}
	log, err := events.New(events.Config{Clock: k.Clock, Store: meanwhile{k.Store, func() { k.Must(k.Store.RecordEvents(t.Context(), late)) }}})
	k.Must(err)
	r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), identity.Principal{AppID: "app_1", BusinessID: "biz_1", Scopes: allScopes}),
		http.MethodGet, "/events?after="+late.ID, http.NoBody)
	if err := log.List(httptest.NewRecorder(), r); !apierror.HasCode(err, codes.UnknownCursor.Code) {
		t.Errorf("List: %v", err)
	}
}

// meanwhile is a store in which something happens after events were numbered.
type meanwhile struct {
	eventstore.Store
	happens func()
}

func (m meanwhile) NumberEvents(ctx context.Context, businessID string) (hasMore bool, err error) {
	hasMore, err = m.Store.NumberEvents(ctx, businessID)
	m.happens()
	return hasMore, err
}

// EVT-03, EVT-06: 30 days, to the millisecond, whether the row is still there or not.
func TestThirtyDays(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.Connect(k.NewApp(allScopes), "biz_1", allScopes)
	old := k.record("biz_1", "invoice.created")[0]
	k.Clock.Advance(time.Second)
	fresh := k.record("biz_1", "invoice.paid")[0]
	k.Clock.Advance(old.CreatedAt.Add(events.Retention).Sub(k.Clock.Now()))

	k.call(token, "/events").shows(old, fresh)
	k.call(token, "/events?after="+old.ID).shows(fresh)
	if got := k.call(token, "/events/"+old.ID); got.Status != http.StatusOK {
		t.Errorf("at 30 days: %d %s", got.Status, got.Body)
	}
	k.Clock.Advance(time.Millisecond)
	k.call(token, "/events").shows(fresh)
	k.call(token, "/events?after="+old.ID).refused(http.StatusBadRequest, codes.UnknownCursor.Code)
	k.call(token, "/events/"+old.ID).refused(http.StatusNotFound, codes.EventNotFound.Code)
	k.call(token, "/events?after="+fresh.ID).shows()
}
