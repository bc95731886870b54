// Package catalog gives a platform scopes and events of its own: here, those of a service that
// manages projects.
package catalog

import (
	"encoding/json"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
)

// Task is the data of an event about a task.
type Task struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

var taskSchema = json.RawMessage(`{
	"type": "object", "required": ["id", "title"],
	"properties": {"id": {"type": "string"}, "title": {"type": "string"}}
}`)

// Configure sets both catalogs. Every event names the scope that is needed to see it.
func Configure(c *partnerkit.Config) error {
	scopes, err := identity.NewScopeCatalog(
		identity.Scope{Name: "tasks:read", Description: "See your tasks", Summary: "Read tasks"},
		identity.Scope{Name: "tasks:write", Description: "Add and complete tasks", Summary: "Write tasks"},
		identity.Scope{Name: partnerkit.EventsScope, Description: "See when tasks change", Summary: "Read the log of events"},
	)
	if err != nil {
		return err
	}
	catalog, err := events.NewCatalog(
		events.Definition{Name: "task.added", Audience: events.AudienceBusiness, Scope: "tasks:read", Description: "Somebody added a task.", Schema: taskSchema, Sample: json.RawMessage(`{"id": "tsk_1", "title": "Call the bank"}`)},
		events.Definition{Name: "task.completed", Audience: events.AudienceBusiness, Scope: "tasks:read", Description: "Somebody completed a task.", Schema: taskSchema, Sample: json.RawMessage(`{"id": "tsk_1", "title": "Call the bank"}`)},
	)
	if err != nil {
		return err
	}
	c.Scopes, c.Events = scopes, catalog
	return nil
}
