package apierror

// A ValueDetail is one entry of the details of INVALID_APP_DATA_VALUE: a value
// that breaks the rules of its field.
type ValueDetail struct {
	ResourceType string `json:"resourceType,omitempty"`
	ResourceID   string `json:"resourceId,omitempty"`
	Key          string `json:"key"`
	Reason       string `json:"reason"`
}

// InvalidValues returns INVALID_APP_DATA_VALUE with one entry for each broken value.
func InvalidValues(broken ...ValueDetail) *Error {
	e := New(InvalidAppDataValue)
	if len(broken) > 0 {
		e.details = broken
	}
	return e
}

// A ListingDetail is one entry of the details of LISTING_INCOMPLETE: a member of
// the listing and what it lacks.
type ListingDetail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// IncompleteListing returns LISTING_INCOMPLETE with one entry for each thing that is
// missing.
func IncompleteListing(missing ...ListingDetail) *Error {
	e := New(ListingIncomplete)
	if len(missing) > 0 {
		e.details = missing
	}
	return e
}
