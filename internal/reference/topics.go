package reference

import (
	"slices"
	"strconv"
)

// How many operations and shapes a page has, so that pages stay small.
const (
	operationsPerTopic = 12
	shapesPerTopic     = 60
)

// topics returns the sections as they stand on pages of their own: a long one becomes several,
// whose titles have their numbers. Empty ones are left out.
func topics(sections []section) []section {
	var all []section
	ids := names{}
	for _, s := range sections {
		ids[s.ID] = true
	}
	for _, s := range sections {
		var parts []section
		for operations := range slices.Chunk(s.Operations, operationsPerTopic) {
			parts = append(parts, section{Operations: operations})
		}
		for shapes := range slices.Chunk(s.Shapes, shapesPerTopic) {
			parts = append(parts, section{Shapes: shapes})
		}
		for i, part := range parts {
			part.ID, part.Title, part.Text = s.ID, s.Title, s.Text
			if i > 0 {
				number := strconv.Itoa(i + 1)
				part.ID, part.Title = ids.unique(s.ID+"-"+number), s.Title+" ("+number+")"
			}
			all = append(all, part)
		}
	}
	return all
}
