package events

import (
	"encoding/json"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
)

// Audience selects the apps that may see an event.
type Audience string

// The audiences. Events of a business and privacy notices go to apps that are
// installed there and hold the event's scope; those of an app go to that app alone,
// installed or not.
const (
	AudienceBusiness Audience = "business"
	AudienceApp      Audience = "app"
	AudiencePrivacy  Audience = "privacy"
)

// The events of an app's own life. Their audience is the app.
const (
	AppInstalled     = "app.installed"
	AppUninstalled   = "app.uninstalled"
	AppScopesUpdated = "app.scopes_updated"
	BusinessRedact   = "business.redact"
	AppDataUpdated   = "app_data.updated"
)

// Definition is one kind of event.
type Definition struct {
	Name        string
	Audience    Audience
	Scope       string // that gates it; empty for AudienceApp
	Description string
	// Sample is the data of a typical event, a JSON object, in the newest shape.
	Sample json.RawMessage
	// Schema is the JSON Schema (2020-12) of the data in the newest shape; nil means
	// any object. It is part of the description that Platform.OpenAPI returns, in which a
	// schema with a title is a component of that name.
	Schema json.RawMessage
	// Older are the shapes that the data had in earlier versions of the API,
	// newest first. Events are recorded in the newest shape.
	Older []Shape
}

// Shape is how the data of an event looked before a version of the API.
type Shape struct {
	// Before is the version that replaced this shape, a date.
	Before string
	// Down turns data of the next newer shape into this one. It must be pure. An event for
	// which it fails or panics is not delivered to apps of these versions.
	Down func(data json.RawMessage) (json.RawMessage, error)
}

// down calls Down. A panic of it is an error: deliveries are planned on a goroutine where
// nothing else recovers it.
func (s Shape) down(data json.RawMessage) (older json.RawMessage, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = apierror.Panicked(value)
		}
	}()
	return s.Down(data)
}

// DataIn returns an event's data as a version of the API shows it. An empty version
// means the newest.
func (d Definition) DataIn(version string, data json.RawMessage) (json.RawMessage, error) {
	if version == "" {
		return data, nil
	}
	for _, shape := range d.Older {
		if version >= shape.Before { // dates sort as text
			break
		}
		var err error
		if data, err = shape.down(data); err != nil {
			return nil, fmt.Errorf("data of %s before %s: %w", d.Name, shape.Before, err)
		}
	}
	return data, nil
}
