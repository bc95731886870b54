package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// list responds with the whole of a list, as payloads.
func list[T, P any](w http.ResponseWriter, items []T, payload func(T) P) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]any{"data": convert(items, payload)})
}

// listPage responds with a page of a list.
func listPage[T, P any](w http.ResponseWriter, page Paged[T], payload func(T) P) error {
	return apierror.WriteJSON(w, http.StatusOK, struct {
		Data       []P    `json:"data"`
		HasMore    bool   `json:"hasMore"`
		NextCursor string `json:"nextCursor,omitempty"`
	}{convert(page.Items, payload), page.NextCursor != "", page.NextCursor})
}

// convert makes one thing of each of many; never nil, so that it marshals as a list.
func convert[T, P any](items []T, payload func(T) P) []P {
	all := make([]P, 0, len(items))
	for _, item := range items {
		all = append(all, payload(item))
	}
	return all
}

// noContent responds to a call after which there is nothing to show.
func noContent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// orNull returns null for a value that says nothing.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
