package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// MaxData is how large the data of an event may be, in bytes of JSON.
const MaxData = 256 << 10

// ErrInvalidDraft means that an event was not recorded because its type, its ids or its
// data are not valid. The wrapping error names the field and the reason.
var ErrInvalidDraft = errors.New("the event cannot be recorded")

// Draft is an event to be recorded.
type Draft struct {
	Type       string // in the catalog
	BusinessID string
	AppID      string // of events whose audience is one app, and of no others
	// Data is a json.RawMessage or any value that encodes to a JSON object, of at
	// most [MaxData] bytes: usually the record as the API shows it, in its newest
	// version.
	Data any
}

// Record records events in a transaction of their own, all or none. [Log.RecordIn] is for the
// transaction of the change that they report. It takes no lock that another transaction could
// wait for.
//
// Events of one call keep their order. It returns them as they were recorded, with
// their ids; [ErrInvalidDraft] when nothing was, because of what they are. Any other
// error is the store's.
func (l *Log) Record(ctx context.Context, drafts ...Draft) ([]partner.Event, error) {
	return l.record(ctx, l.cfg.Store.RecordEvents, drafts)
}

// RecordIn is [Log.Record] in a transaction: of the store's InTx or BeginTx, storage.SQL of a
// *sql.Tx, or postgres.Pgx of a pgx.Tx.
func (l *Log) RecordIn(ctx context.Context, tx storage.Tx, drafts ...Draft) ([]partner.Event, error) {
	if tx == nil {
		return nil, errors.New("events: RecordIn needs the transaction of the change")
	}
	return l.record(ctx, func(ctx context.Context, recorded ...partner.Event) error {
		return l.cfg.Store.RecordEventsIn(ctx, tx, recorded...)
	}, drafts)
}

func (l *Log) record(ctx context.Context, into func(context.Context, ...partner.Event) error, drafts []Draft) ([]partner.Event, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	now := l.cfg.Clock.Now()
	recorded := make([]partner.Event, len(drafts))
	for i, d := range drafts {
		data, err := l.check(d)
		if err != nil {
			return nil, fmt.Errorf("events: draft %d, %q: %w: %w", i+1, d.Type, ErrInvalidDraft, err)
		}
		at := now.Add(time.Duration(i) * id.Resolution) // in the order of their ids
		recorded[i] = partner.Event{
			ID: id.New(id.Event, at), Type: d.Type, BusinessID: d.BusinessID, AppID: d.AppID,
			Data: data, CreatedAt: at.Truncate(time.Millisecond),
		}
	}
	if err := into(ctx, recorded...); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return recorded, nil
}

// check returns the data as it will be kept.
func (l *Log) check(d Draft) (json.RawMessage, error) {
	definition, ok := l.cfg.Catalog.Lookup(d.Type)
	switch {
	case !ok:
		return nil, errors.New("the catalog has no such event")
	case d.BusinessID == "":
		return nil, errors.New("BusinessID is empty")
	case !text.IsStorable(d.BusinessID):
		return nil, errors.New("BusinessID is not valid UTF-8 without NUL")
	case definition.Audience == AudienceApp && d.AppID == "":
		return nil, errors.New("the event is for a single app, but AppID is empty")
	case definition.Audience != AudienceApp && d.AppID != "":
		return nil, errors.New("the event is not for a single app, but AppID is set")
	case !text.IsStorable(d.AppID):
		return nil, errors.New("AppID is not valid UTF-8 without NUL")
	}
	data, err := apierror.EncodeJSON(d.Data) // in the bytes that the API would send
	switch {
	case err != nil:
		return nil, fmt.Errorf("the data: %w", err)
	case !bytes.HasPrefix(data, []byte("{")): // it is JSON by now
		return nil, errors.New("the data is not a JSON object")
	case len(data) > MaxData:
		return nil, fmt.Errorf("the data has %d bytes, more than %d", len(data), MaxData)
	case !utf8.Valid(data):
		return nil, errors.New("the data is not valid UTF-8")
	}
	if check := l.checks[d.Type]; check != nil {
		if err := check(data); err != nil {
			return nil, fmt.Errorf("the data does not follow the schema: %w", err)
		}
	}
	return data, nil
}
