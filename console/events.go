package console

import (
	"encoding/json"
	"net/http"

	"github.com/partnerkit/partnerkit/events"
)

// EventCatalog is the events that webhooks can choose from.
func (c *Console) EventCatalog() []events.Definition { return c.cfg.Events.All() }

func (c *Console) eventRoutes() []route {
	return []route{{"GET /developer/events", c.listEvents}}
}

type eventPayload struct {
	Name        string          `json:"name"`
	Audience    events.Audience `json:"audience"`
	Scope       *string         `json:"scope"`
	Description string          `json:"description"`
	Sample      json.RawMessage `json:"sample"`
}

func (c *Console) listEvents(w http.ResponseWriter, _ *http.Request, _ Actor) error {
	return list(w, c.EventCatalog(), func(d events.Definition) eventPayload {
		return eventPayload{Name: d.Name, Audience: d.Audience, Scope: orNull(d.Scope), Description: d.Description, Sample: d.Sample}
	})
}
