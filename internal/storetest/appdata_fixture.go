package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata"
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
	field appdata.Field
}

func newData(t testing.TB, e partnerkit.Store) *dataFixture {
	t.Helper()
	f := &dataFixture{oauthFixture: newOAuth(t, e)}
	f.code(t) // installs
	f.field = f.declared(t, "shipment")
	return f
}

// another returns one more field of the app, not stored yet.
func (f *dataFixture) another(key string) appdata.Field {
	return appdata.Field{
		ID: id.New(id.AppDataField, noon), AppID: f.app.ID, ResourceType: "invoice", Key: key, Type: appdata.Text, Label: "Ü & <b>",
		Rules: appdata.Rules{MinLength: new(0), MaxLength: new(20)}, CreatedAt: noon, UpdatedAt: noon,
	}
}

func (f *dataFixture) declared(t testing.TB, key string) appdata.Field {
	t.Helper()
	field := f.another(key)
	must(t, createField(t.Context(), f, field, 100))
	return field
}

// drafts are values of a field, one for each record; their texts are JSON.
func drafts(field appdata.Field, now time.Time, values map[string]string) []appdata.Draft {
	var all []appdata.Draft
	for resource, text := range values {
		all = append(all, appdata.Draft{FieldID: field.ID, Value: appdata.Value{
			ID: id.New(id.AppDataValue, now), ResourceType: field.ResourceType, ResourceID: resource, Key: field.Key,
			Value: json.RawMessage(text), CreatedAt: now, UpdatedAt: now,
		}})
	}
	return all
}

// write returns the wish to write drafts, which records what changed.
func (f *dataFixture) write(now time.Time, all []appdata.Draft) appdata.Write {
	event := f.event(events.AppDataUpdated, now)
	return appdata.Write{
		AppID: f.app.ID, BusinessID: f.business, SpaceID: id.New(id.AppDataSpace, now), Drafts: all,
		Record: func(changed []appdata.Value) []partner.Event {
			event[0].Data = fmt.Appendf(nil, `{"changed":%d}`, len(changed))
			return event
		},
		Respond: func(context.Context, storage.Tx, []appdata.Value) error { return nil },
	}
}

// put writes one value.
func (f *dataFixture) put(t testing.TB, resource, text string) appdata.Value {
	t.Helper()
	return get[[]appdata.Value](t)(f.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{resource: text}))))[0]
}

func (f *dataFixture) query(resources ...string) appdata.Query {
	return appdata.Query{AppID: f.app.ID, BusinessID: f.business, ResourceIDs: resources}
}

// seen returns the values on records.
func (f *dataFixture) seen(t testing.TB, resources ...string) []appdata.Value {
	t.Helper()
	return get[[]appdata.Value](t)(f.Values(t.Context(), f.query(resources...)))
}

// removal returns the wish to delete a value.
func (f *dataFixture) removal(valueID string) appdata.Removal {
	return appdata.Removal{
		AppID: f.app.ID, BusinessID: f.business, ValueID: valueID,
		Check:   func(appdata.Value) error { return nil },
		Record:  func(appdata.Value) []partner.Event { return f.event(events.AppDataUpdated, noon) },
		Respond: func(context.Context, storage.Tx) error { return nil },
	}
}
