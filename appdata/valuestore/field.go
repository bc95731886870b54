package valuestore

import (
	"encoding/json"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

// Type is the type of a field's values.
type Type string

// The types.
const (
	Text    Type = "TEXT"    // a string
	Number  Type = "NUMBER"  // a number, exact
	Boolean Type = "BOOLEAN" // true or false
	Date    Type = "DATE"    // a day of the calendar: "2026-09-01"
	URL     Type = "URL"     // an absolute URL of http or https
	Choice  Type = "CHOICE"  // one of some strings
)

// Field is a kind of value that an app attaches to records of one type. In JSON its
// rules are members of it.
type Field struct {
	ID           string `json:"id"` // adf_…
	AppID        string `json:"-"`
	ResourceType string `json:"resourceType"`
	Key          string `json:"key"` // unique for the app and the type of record
	Type         Type   `json:"type"`
	Label        string `json:"label,omitempty"`
	Rules
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Version grows with each change of the field. A new field has 1.
	Version int64 `json:"version"`
}

// MarshalJSON implements json.Marshaler. Times have milliseconds.
func (f Field) MarshalJSON() ([]byte, error) {
	type members Field
	return apierror.EncodeJSON(struct {
		members
		CreatedAt stamp.Time `json:"createdAt"`
		UpdatedAt stamp.Time `json:"updatedAt"`
	}{members(f), stamp.Of(f.CreatedAt), stamp.Of(f.UpdatedAt)})
}

// Rules constrain the values of a field; nil means that there is no such
// rule. Each type has some of them, see the comments. Lengths count Unicode code
// points, and all bounds are inclusive.
type Rules struct {
	MinLength *int         `json:"minLength,omitempty"` // TEXT
	MaxLength *int         `json:"maxLength,omitempty"` // TEXT; URL, where nil means 2048
	Min       *json.Number `json:"min,omitempty"`       // NUMBER
	Max       *json.Number `json:"max,omitempty"`       // NUMBER
	Decimals  *int         `json:"decimals,omitempty"`  // NUMBER
	From      *string      `json:"from,omitempty"`      // DATE
	To        *string      `json:"to,omitempty"`        // DATE
	Choices   []string     `json:"choices,omitempty"`   // CHOICE, which always has some
}
