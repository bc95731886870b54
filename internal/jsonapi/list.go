package jsonapi

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// WriteList responds with the whole of a list, as payloads.
func WriteList[T, P any](w http.ResponseWriter, items []T, payload func(T) P) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]any{"data": Convert(items, payload)})
}

// Page is a page of a list; see [NewPage].
type Page[P any] struct {
	Data       []P    `json:"data"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// NewPage returns a page of items, as payloads. The list ends with it if next is empty.
func NewPage[T, P any](items []T, next string, payload func(T) P) Page[P] {
	return Page[P]{Convert(items, payload), next != "", next}
}

// Convert makes one thing of each of many; never nil, so that it marshals as a list.
func Convert[T, P any](items []T, payload func(T) P) []P {
	all := make([]P, 0, len(items))
	for _, item := range items {
		all = append(all, payload(item))
	}
	return all
}

// OrNull returns null for a value that says nothing.
func OrNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
