package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// maxFields is how many fields an app of the cases may have.
const maxFields = 3

// dataFixture is an app that is installed in its business and has a field.
type dataFixture struct {
	*oauthFixture
	field valuestore.Field
}

func newData(t testing.TB, e partnerkit.Store) *dataFixture {
	t.Helper()
	f := &dataFixture{oauthFixture: newOAuth(t, e)}
	f.code(t) // installs
	f.field = f.declared(t, "shipment")
	return f
}

// another returns one more field of the app, not stored yet.
func (f *dataFixture) another(key string) valuestore.Field {
	return valuestore.Field{
		ID: id.New(id.AppDataField, noon), AppID: f.app.ID, ResourceType: "invoice", Key: key, Type: valuestore.Text, Label: "Ü & <b>",
		Rules: valuestore.Rules{MinLength: new(0), MaxLength: new(20)}, CreatedAt: noon, UpdatedAt: noon,
	}
}

func (f *dataFixture) declared(t testing.TB, key string) valuestore.Field {
	t.Helper()
	field := f.another(key)
	must(t, createField(t.Context(), f, field, 100))
	return field
}

// drafts are values of a field, one for each record; their texts are JSON.
func drafts(field valuestore.Field, now time.Time, values map[string]string) []valuestore.Draft {
	var all []valuestore.Draft
	for resource, text := range values {
		all = append(all, valuestore.Draft{FieldID: field.ID, Value: valuestore.Value{
			ID: id.New(id.AppDataValue, now), ResourceType: field.ResourceType, ResourceID: resource, Key: field.Key,
			Value: json.RawMessage(text), CreatedAt: now, UpdatedAt: now,
		}})
	}
	return all
}

// write returns the wish to write drafts, which records what changed.
func (f *dataFixture) write(now time.Time, all []valuestore.Draft) valuestore.Write {
	event := f.event(events.AppDataUpdated, now)
	return valuestore.Write{
		AppID: f.app.ID, BusinessID: f.business, SpaceID: id.New(id.AppDataSpace, now), Drafts: all,
		Record: func(changed []valuestore.Value) []partner.Event {
			event[0].Data = fmt.Appendf(nil, `{"changed":%d}`, len(changed))
			return event
		},
		Respond: func(context.Context, storage.Tx, []valuestore.Value) error { return nil },
	}
}

// put writes one value.
func (f *dataFixture) put(t testing.TB, resource, text string) valuestore.Value {
	t.Helper()
	return get[[]valuestore.Value](t)(f.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{resource: text}))))[0]
}

func (f *dataFixture) query(resources ...string) valuestore.Query {
	return valuestore.Query{AppID: f.app.ID, BusinessID: f.business, ResourceIDs: resources}
}

// seen returns the values on records.
func (f *dataFixture) seen(t testing.TB, resources ...string) []valuestore.Value {
	t.Helper()
	return get[[]valuestore.Value](t)(f.Values(t.Context(), f.query(resources...)))
}

// removal returns the wish to delete a value.
func (f *dataFixture) removal(valueID string) valuestore.Removal {
	return valuestore.Removal{
		AppID: f.app.ID, BusinessID: f.business, ValueID: valueID,
		Check:   func(valuestore.Value) error { return nil },
		Record:  func(valuestore.Value) []partner.Event { return f.event(events.AppDataUpdated, noon) },
		Respond: func(context.Context, storage.Tx) error { return nil },
	}
}
