package partnerkit_test

import (
	"encoding/json"
	"fmt"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
)

// noteScopes are the scopes that an app can request. Description is for the people who
// consent, Summary for developers.
func noteScopes() (identity.ScopeCatalog, error) {
	return identity.NewScopeCatalog(
		identity.Scope{Name: "notes:read", Description: "See your notes", Summary: "Read notes"},
		identity.Scope{Name: "notes:write", Description: "Write notes"},
		identity.Scope{Name: partnerkit.EventsScope, Description: "See when notes are written"},
	)
}

// noteEvents are the events that we record, each with the scope that is required to see it.
func noteEvents() (events.Catalog, error) {
	return events.NewCatalog(events.Definition{
		Name: "note.written", Audience: events.AudienceBusiness, Scope: "notes:read",
		Description: "Somebody wrote a note.", Sample: json.RawMessage(`{"text": "Buy milk"}`),
	})
}

// A backend that is about something else than accounts: [partnerkit.Config] takes
// scopes and events of its own.
func Example_ownScopesAndEvents() {
	scopes, err := noteScopes()
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := noteEvents()
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := partnerkit.Config{Scopes: scopes, Events: catalog} // and all the rest
	for _, scope := range cfg.Scopes.All() {
		fmt.Println(scope.Name)
	}
	for _, event := range cfg.Events.All() {
		fmt.Println(event.Name)
	}
	// Output:
	// notes:read
	// notes:write
	// events:read
	// note.written
	// app.installed
	// app.uninstalled
	// app.scopes_updated
	// business.redact
	// app_data.updated
}
