package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage"
)

// scopes are what an app can ask our people for, in words that they understand.
func scopes() (identity.ScopeCatalog, error) {
	return identity.NewScopeCatalog(
		identity.Scope{Name: "notes:read", Description: "Read your notes"},
		identity.Scope{Name: "notes:write", Description: "Write notes"},
		identity.Scope{Name: partnerkit.EventsScope, Description: "See when notes are written"},
	)
}

// catalog are the events that we record, each with the scope that one needs to see it.
func catalog() (events.Catalog, error) {
	return events.NewCatalog(events.Definition{
		Name: "note.written", Audience: events.AudienceBusiness, Scope: "notes:read",
		Description: "Somebody wrote a note.", Sample: json.RawMessage(`{"text": "Buy milk"}`),
	})
}

// opened is what apps may call. Nothing else of ours is open to them.
func (o *office) opened() []guard.Route {
	return []guard.Route{
		{Pattern: "GET /notes", Scope: "notes:read", Handler: o.listNotes},
		{Pattern: "POST /notes", Scope: "notes:write", Handler: o.writeNote},
	}
}

// maxNote is how long a note may be, in characters.
const maxNote = 1000

type note struct {
	Text string `json:"text"`
}

// writeNote writes a row, an event and the answer in one transaction: an app that
// repeats the request with its Idempotency-Key gets this answer, and no second note.
func (o *office) writeNote(_ http.ResponseWriter, r *http.Request) error {
	var in note
	if err := apierror.DecodeJSON(r, &in, apierror.JSONLimits{}); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(in.Text); n < 1 || n > maxNote {
		return apierror.Invalid(fmt.Sprintf("text must have 1 to %d characters", maxNote))
	}
	ctx := r.Context()
	caller, _ := identity.PrincipalFrom(ctx) // the business is the token's
	tx, err := o.store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(ctx, "INSERT INTO note (business, body) VALUES ($1, $2)", caller.BusinessID, in.Text); err != nil {
		return err
	}
	written := events.Draft{Type: "note.written", BusinessID: caller.BusinessID, Data: in}
	if _, err := o.happened.Record(ctx, o.store.WithTx(tx), written); err != nil {
		return err
	}
	if err := guard.Answer(ctx, tx, http.StatusCreated, in); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func (o *office) listNotes(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	notes, err := o.notes(r.Context(), caller.BusinessID)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string][]note{"data": notes})
}

func (o *office) notes(ctx context.Context, businessID string) ([]note, error) {
	notes := []note{}
	err := storage.Each(ctx, o.store, "SELECT body FROM note WHERE business = $1", []any{businessID},
		func(scan func(...any) error) error {
			var n note
			err := scan(&n.Text)
			notes = append(notes, n)
			return err
		})
	return notes, err
}
