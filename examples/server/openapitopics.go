package main

import (
	"slices"
	"strconv"
)

// How many operations and shapes a page of the description has, so that pages stay small.
const (
	operationsPerTopic = 12
	shapesPerTopic     = 60
)

// topics returns the sections as they stand on pages of their own: a long one becomes several,
// whose titles have their numbers.
func topics(sections []descriptionSection) []descriptionSection {
	var all []descriptionSection
	for _, section := range sections {
		var parts []descriptionSection
		for operations := range slices.Chunk(section.Operations, operationsPerTopic) {
			parts = append(parts, descriptionSection{Operations: operations})
		}
		for shapes := range slices.Chunk(section.Shapes, shapesPerTopic) {
			parts = append(parts, descriptionSection{Shapes: shapes})
		}
		for i, part := range parts {
			part.ID, part.Title, part.Text = section.ID, section.Title, section.Text
			if i > 0 {
				part.ID, part.Title = section.ID+"-"+strconv.Itoa(i+1), section.Title+" ("+strconv.Itoa(i+1)+")"
			}
			all = append(all, part)
		}
	}
	return all
}

// shapePlaces returns the address of each shape.
func shapePlaces(topics []descriptionSection) map[string]string {
	places := make(map[string]string)
	for _, topic := range topics {
		for _, shape := range topic.Shapes {
			places[shape.Name] = topic.Href() + "#shape-" + shape.Name
		}
	}
	return places
}

// Href is the address of the page of a topic.
func (s descriptionSection) Href() string { return "/openapi/" + s.ID }
