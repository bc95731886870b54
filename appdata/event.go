package appdata

import (
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// deletedValue is a deleted value in the data of an event.
type deletedValue struct {
	ID           string `json:"id"`
	ResourceType string `json:"resourceType"`
	ResourceID   string `json:"resourceId"`
	Key          string `json:"key"`
}

// updated returns the event of a change.
func updated(p identity.Principal, eventID string, now time.Time, data any) []partner.Event {
	encoded, err := apierror.EncodeJSON(data)
	if err != nil {
		panic(err) // values are JSON that was read before
	}
	return []partner.Event{{
		ID: eventID, Type: events.AppDataUpdated, BusinessID: p.BusinessID, AppID: p.AppID, Data: encoded, CreatedAt: now,
	}}
}
