package appdata

import (
	"encoding/json"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

// What a request may hold.
const (
	// MaxValues is how many values a PUT writes.
	MaxValues = 25
	// MaxResources is how many records a GET is about.
	MaxResources = 50
	// MaxValue is how large a value may be, in bytes of JSON without needless
	// escapes.
	MaxValue = 4 << 10
	// MaxResourceID is how many characters the id of a record may have.
	MaxResourceID = 256
)

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
