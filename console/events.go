package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
)

// EventCatalog returns the events that webhooks can choose from.
func (c *Console) EventCatalog() []events.Definition { return c.cfg.Events.All() }

// Scopes returns the scopes that apps may request.
func (c *Console) Scopes() []identity.Scope {
	return slices.DeleteFunc(c.cfg.OAuth.Scopes().All(), func(s identity.Scope) bool { return s.Internal })
}

// Origins are the public origins of the API host and the app host.
func (c *Console) Origins() (api, app string) { return c.cfg.OAuth.Origins() }

// Versions returns the names of the API versions that an app may pin now.
func (c *Console) Versions() []string {
	now := c.cfg.Clock.Now()
	return slices.DeleteFunc(slices.Clone(c.cfg.Versions), func(name string) bool { return c.cfg.Serves != nil && !c.cfg.Serves(name, now) })
}

// ResourceTypes returns the types of records that extensions may belong to, each with the
// scope to read it.
func (c *Console) ResourceTypes() map[string]string { return maps.Clone(c.cfg.ResourceTypes) }

// FieldTypes returns the types of records that take app data, each with the scope to read
// it; nil: there is no app data, and nothing about fields may be asked.
func (c *Console) FieldTypes() map[string]string {
	if c.cfg.AppData == nil {
		return nil
	}
	return c.cfg.AppData.Types()
}

func (c *Console) eventRoutes() []route {
	return []route{
		{"GET /developer/events", c.listEvents},
		{"GET /developer/apps/{appId}/events", c.listAppEvents},
	}
}

type eventPayload struct {
	Name        string          `json:"name"`
	Audience    events.Audience `json:"audience"`
	Scope       *string         `json:"scope"`
	Description string          `json:"description"`
	Sample      json.RawMessage `json:"sample"`
}

func (c *Console) listEvents(w http.ResponseWriter, _ *http.Request, _ Actor) error {
	return jsonapi.WriteList(w, c.EventCatalog(), func(d events.Definition) eventPayload {
		return eventPayload{Name: d.Name, Audience: d.Audience, Scope: jsonapi.OrNull(d.Scope), Description: d.Description, Sample: d.Sample}
	})
}
