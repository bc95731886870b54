package listener

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// Occurrence is something that should happen.
type Occurrence struct {
	BusinessID string
	Type       string          // such as invoice.paid
	Data       json.RawMessage // nil: the sample of the catalog
}

// Trigger makes something happen in a business, and returns the id of the event.
// Every app that may see it gets it, which for events of a business means apps that the
// business has installed with the event's scope.
func (l *Listener) Trigger(ctx context.Context, what Occurrence) (eventID string, err error) {
	return l.console.trigger(ctx, l.app, what)
}

// Trigger does the same without a listener. Of cfg it takes who asks and which app.
func Trigger(ctx context.Context, cfg Config, what Occurrence) (eventID string, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return "", err
	}
	c := &console{api: cfg.API, userID: cfg.UserID, client: newClient()}
	defer c.client.CloseIdleConnections()
	a, err := c.app(ctx, cfg.AppID, cfg.ClientID)
	if err != nil {
		return "", fmt.Errorf("listener: %w", err)
	}
	return c.trigger(ctx, a, what)
}

func (c *console) trigger(ctx context.Context, a app, what Occurrence) (string, error) {
	catalog, err := c.catalog(ctx)
	if err != nil {
		return "", fmt.Errorf("listener: %w", err)
	}
	i := slices.IndexFunc(catalog, func(d definition) bool { return d.Name == what.Type })
	if i < 0 {
		return "", fmt.Errorf("listener: there is no event %q; GET /developer/events lists them", what.Type)
	}
	in := map[string]any{"businessId": what.BusinessID, "type": what.Type, "data": what.Data, "clientId": a.ClientID}
	if what.Data == nil {
		in["data"] = catalog[i].Sample
	}
	var recorded struct{ ID string }
	if err := c.do(ctx, call{http.MethodPost, "/dev/events", in, &recorded}, ""); err != nil {
		return "", fmt.Errorf("listener: %w", err)
	}
	return recorded.ID, nil
}
