package codes

import "github.com/partnerkit/partnerkit/apierror"

// A ValueDetail is one entry of the details of INVALID_APP_DATA_VALUE: a value
// that breaks the rules of its field.
type ValueDetail struct {
	ResourceType string `json:"resourceType,omitempty"`
	ResourceID   string `json:"resourceId,omitempty"`
	Key          string `json:"key"`
	Reason       string `json:"reason"`
}

// InvalidValues returns INVALID_APP_DATA_VALUE with one entry for each broken value.
func InvalidValues(broken ...ValueDetail) *apierror.Error {
	return InvalidAppDataValue.New().WithDetails(append([]ValueDetail{}, broken...))
}
