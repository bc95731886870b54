package valuestore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Query asks for values.
type Query struct {
	AppID, BusinessID string
	ResourceIDs       []string
	ResourceType, Key string // empty: any
}

// Write is values to be written, all or none.
type Write struct {
	AppID, BusinessID string
	SpaceID           string // of a new space, should there be none
	Drafts            []Draft
	// Record returns the events that tell about the values that were added or
	// changed; it is not called when there are none. It must be pure.
	Record func(changed []Value) []partner.Event
	// Respond is called before the commit with all values, in the order of the
	// drafts; its error undoes everything. It may be called more than once.
	Respond func(ctx context.Context, tx storage.Tx, all []Value) error
}

// Draft is a value to be written. Its id and CreatedAt are for a new one; one that is
// there keeps its own, and its UpdatedAt too when the value is the same to the letter.
type Draft struct {
	FieldID string
	Value
}

// Removal is a value to be deleted. Check validates it under the lock; its error is
// returned and nothing is deleted. Record and Respond are as in [Write].
type Removal struct {
	AppID, BusinessID, ValueID string
	Check                      func(Value) error
	Record                     func(deleted Value) []partner.Event
	Respond                    func(ctx context.Context, tx storage.Tx) error
}

// Value is a value that an app has attached to a record.
type Value struct {
	ID           string          `json:"id"` // adv_…
	ResourceType string          `json:"resourceType"`
	ResourceID   string          `json:"resourceId"`
	Key          string          `json:"key"`
	Value        json.RawMessage `json:"value"`
	CreatedAt    time.Time       `json:"createdAt"`
	UpdatedAt    time.Time       `json:"updatedAt"`
}

// MarshalJSON implements json.Marshaler. Times have milliseconds.
func (v Value) MarshalJSON() ([]byte, error) {
	type members Value
	return apierror.EncodeJSON(struct {
		members
		CreatedAt stamp.Time `json:"createdAt"`
		UpdatedAt stamp.Time `json:"updatedAt"`
	}{members(v), stamp.Of(v.CreatedAt), stamp.Of(v.UpdatedAt)})
}
