package ledger

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/storage"
)

// outcome is the result of a write.
type outcome struct {
	status   int
	body     any
	location string // of what was made; empty: nothing, or several
	events   []events.Draft
}

// happened notes an event of a record, which it shows as the API does.
func (o *outcome) happened(name string, record any) {
	o.events = append(o.events, events.Draft{Type: name, Data: record})
}

// created returns the outcome of a write that made a record.
func (t table[T]) created(record T, event string) outcome {
	o := outcome{status: http.StatusCreated, body: record, location: t.path + "/" + t.idOf(record)}
	o.happened(event, record)
	return o
}

// write runs an operation in a transaction, and adds its events and its response: all of
// it is committed, or nothing.
func (l *Ledger) write(w http.ResponseWriter, r *http.Request, act func(ctx context.Context, tx storage.Tx) (outcome, error)) error {
	ctx := r.Context()
	return l.cfg.Store.InTx(ctx, func(tx storage.Tx) error {
		done, err := act(ctx, tx)
		if err != nil {
			return err
		}
		for i := range done.events {
			done.events[i].BusinessID = businessOf(ctx)
		}
		if _, err := l.cfg.Events.RecordIn(ctx, tx, done.events...); err != nil {
			return err
		}
		if done.location != "" {
			w.Header().Set("Location", done.location)
		}
		return idempotency.Respond(ctx, tx, done.status, done.body)
	})
}
