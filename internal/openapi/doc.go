// Package openapi writes the OpenAPI 3.1 description of a platform: of its own endpoints,
// of the routes that a host opens to apps, and of webhooks.
//
// The file own.json describes the endpoints of the library. It has the form of an OpenAPI
// document, with these differences: "headers" at the top names sets of headers, which
// responses refer to by name; enumerations of scopes and events are empty; addresses and
// the name of the version header are those of the reference server; a number of [Figures]
// is a name such as ${code}. [Generate] takes the
// operations that a platform serves, fills in what depends on the platform, adds routes
// and webhooks, and removes components that nothing refers to. Its output depends on its
// input alone, and members keep the order in which they were written.
package openapi

import "encoding/json"

// Input is all that a description depends on.
type Input struct {
	// Title of the document.
	Title string
	// Service is the name of the service, and Version the current version of its API;
	// empty: the API has no versions.
	Service, Version string
	// VersionHeader is the header that asks for a version.
	VersionHeader string
	// APIURL and AppURL are the origins of the two hosts.
	APIURL, AppURL string
	// Scopes are the scopes that apps may request.
	Scopes []Scope
	// CustomConnections reports that there are custom connections. InstallationPatterns are the
	// library's own endpoints that take their tokens.
	CustomConnections    bool
	InstallationPatterns []string
	// APIPatterns and AppPatterns are the library's own endpoints on the two hosts.
	APIPatterns, AppPatterns []string
	// Routes are the host's.
	Routes []Route
	// Schemas are the host's component schemas, by name.
	Schemas map[string]json.RawMessage
	// Events are the catalog.
	Events []Event
	// NoWebhooks leaves out the webhooks of Events.
	NoWebhooks bool
	// Figures are the configured numbers.
	Figures Figures
	// ErrorType is the media type of errors in a shape of the host's own; empty: the
	// standard shape.
	ErrorType string
}

// webhooks are the events that are described.
func (in Input) webhooks() []Event {
	if in.NoWebhooks {
		return nil
	}
	return in.Events
}

// Scope is a scope that apps may request.
type Scope struct{ Name, Description string }

// Event is one kind of event.
type Event struct {
	Name, Summary, Text string
	Sample, Schema      json.RawMessage // Schema is nil if there is none
}

// Route is a route that a host opened to apps.
type Route struct {
	Pattern         string
	Scope           string // empty: any
	Permission      string
	SessionsAllowed bool
	Installations   bool // takes the tokens of custom connections; ignored without Input.CustomConnections
	Writes          bool // takes an Idempotency-Key

	ID, Tag, Summary, Text string
	Query                  []Parameter
	Request, Response      json.RawMessage
	Result                 string
	Example                json.RawMessage
	Status                 int
	HasLocation            bool
	Errors                 []int
}

// Parameter is a query parameter.
type Parameter struct {
	Name, Text string
	Required   bool
	Schema     json.RawMessage
}
