package events_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
)

// Events of one call keep their order, even if the clock stands still, and are returned
// as they are stored.
func TestRecord(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	k.Clock.Advance(123456 * time.Nanosecond)
	drafts := make([]events.Draft, 5000) // longer than a millisecond of ids
	for i := range drafts {
		drafts[i] = events.Draft{Type: "invoice.created", BusinessID: "biz_1", Data: map[string]int{"n": i}}
	}
	drafts[7] = events.Draft{Type: events.AppDataUpdated, BusinessID: "biz_1", AppID: "app_1", Data: json.RawMessage(` {"text": "<a> & \u0000"} `)}
	recorded, err := k.log.Record(t.Context(), drafts...)
	k.Must(err)
	if !slices.IsSortedFunc(recorded, func(a, b partner.Event) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the ids are not in order")
	}
	for i, e := range recorded {
		if i%500 != 7 {
			continue
		}
		got, err := k.Store.Events(t.Context(), eventstore.Query{BusinessID: "biz_1", EventID: e.ID})
		if diff := cmp.Diff([]partner.Event{e}, got); diff != "" || err != nil {
			t.Errorf("%v (-recorded +stored)\n%s", err, diff)
		}
	}
	if got := recorded[7]; got.AppID != "app_1" || string(got.Data) != `{"text":"<a> & \u0000"}` {
		t.Errorf("recorded %+v", got)
	}
	if got := recorded[0].CreatedAt; !got.Equal(harness.Start) {
		t.Errorf("created at %v", got)
	}
}

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	type draft = events.Draft
	object := struct{}{}
	large := map[string]string{"text": strings.Repeat("x", events.MaxData-len(`{"text":""}`)+1)}
	for want, d := range map[string]draft{
		`draft 2, "x": the event cannot be recorded: the catalog has no such event`:                                          {Type: "x", BusinessID: "b", Data: object},
		`draft 2, "": the event cannot be recorded: the catalog has no such event`:                                           {BusinessID: "b", Data: object},
		`draft 2, "invoice.paid": the event cannot be recorded: BusinessID is empty`:                                         {Type: "invoice.paid", Data: object},
		`draft 2, "invoice.paid": the event cannot be recorded: BusinessID is not valid UTF-8 without NUL`:                   {Type: "invoice.paid", BusinessID: "b\x00", Data: object},
		`draft 2, "invoice.sent": the event cannot be recorded: BusinessID is not valid UTF-8 without NUL`:                   {Type: "invoice.sent", BusinessID: "\xff", Data: object},
		`draft 2, "invoice.paid": the event cannot be recorded: the event is not for a single app, but AppID is set`:         {Type: "invoice.paid", BusinessID: "b", AppID: "a", Data: object},
		`draft 2, "customer.redact": the event cannot be recorded: the event is not for a single app, but AppID is set`:      {Type: "customer.redact", BusinessID: "b", AppID: "a", Data: object},
		`draft 2, "app.installed": the event cannot be recorded: the event is for a single app, but AppID is empty`:          {Type: "app.installed", BusinessID: "b", Data: object},
		`draft 2, "app.installed": the event cannot be recorded: AppID is not valid UTF-8 without NUL`:                       {Type: "app.installed", BusinessID: "b", AppID: "a\x00", Data: object},
		`draft 2, "invoice.paid": the event cannot be recorded: the data is not a JSON object`:                               {Type: "invoice.paid", BusinessID: "b"},
		`draft 2, "invoice.sent": the event cannot be recorded: the data is not a JSON object`:                               {Type: "invoice.sent", BusinessID: "b", Data: []byte("{}")},
		`draft 2, "invoice.viewed": the event cannot be recorded: the data is not a JSON object`:                             {Type: "invoice.viewed", BusinessID: "b", Data: json.RawMessage(`["{}"]`)},
		`draft 2, "invoice.paid": the event cannot be recorded: the data is not valid UTF-8`:                                 {Type: "invoice.paid", BusinessID: "b", Data: json.RawMessage("{\"a\":\"\xff\"}")},
		`draft 2, "invoice.paid": the event cannot be recorded: the data has 262145 bytes, more than 262144`:                 {Type: "invoice.paid", BusinessID: "b", Data: large},
		`draft 2, "invoice.paid": the event cannot be recorded: the data: encode response: json: unsupported type: chan int`: {Type: "invoice.paid", BusinessID: "b", Data: make(chan int)},
	} {
		_, err := k.log.Record(t.Context(), draft{Type: "invoice.created", BusinessID: "biz_1", Data: object}, d)
		if !errors.Is(err, events.ErrInvalidDraft) || err.Error() != "events: "+want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if found := k.list("biz_1", "", "invoice.created"); len(found) != 0 {
		t.Errorf("%d events were recorded all the same", len(found))
	}
	for _, broken := range []string{"{", "{} {}", "{\"a\":\"\x00\"}", "{}\x00"} {
		if _, err := k.log.Record(t.Context(), draft{Type: "invoice.paid", BusinessID: "b", Data: json.RawMessage(broken)}); !errors.Is(err, events.ErrInvalidDraft) {
			t.Errorf("%q: %v", broken, err)
		}
	}
	large["text"] = large["text"][1:]
	if _, err := k.log.Record(t.Context(), draft{Type: "invoice.paid", BusinessID: "b", Data: large}); err != nil {
		t.Errorf("data of MaxData bytes: %v", err)
	}
	if recorded, err := k.log.Record(t.Context()); len(recorded) != 0 || err != nil {
		t.Errorf("nothing: %v, %v", recorded, err)
	}
}

// An event is there exactly when the host's transaction is.
func TestRecordInTheHostsTransaction(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	draft := events.Draft{Type: "invoice.paid", BusinessID: "biz_1", Data: struct{}{}}
	for _, commits := range []bool{false, true} {
		tx, err := k.Store.BeginTx(t.Context())
		k.Must(err)
		_, err = k.log.RecordIn(t.Context(), tx, draft)
		k.Must(err)
		if commits {
			k.Must(tx.Commit(t.Context()))
		}
		k.Must(tx.Rollback())
		if n := len(k.list("biz_1", "", "invoice.paid")); (n == 1) != commits {
			t.Errorf("%d events, commits: %v", n, commits)
		}
	}
	k.Store.Tap.Arm(testdb.FaultError, 1)
	if _, err := k.log.Record(t.Context(), draft); !errors.Is(err, testdb.ErrInjected) || errors.Is(err, events.ErrInvalidDraft) {
		t.Errorf("a fault of the store: %v", err)
	}
}
