package sqlstore

import (
	"reflect"
	"slices"
)

// items holds the changes of a list.
type items[T any] struct{ added, changed, gone []T }

// changedItems calls change with a list and compares what it returns with what was there.
func changedItems[T any](before []T, id func(T) string, change func([]T) ([]T, error)) (items[T], error) {
	var diff items[T]
	after, err := change(slices.Clone(before))
	if err != nil {
		return diff, err
	}
	left := make(map[string]T, len(before))
	for _, one := range before {
		left[id(one)] = one
	}
	for _, one := range after {
		was, isKnown := left[id(one)]
		delete(left, id(one))
		switch {
		case !isKnown:
			diff.added = append(diff.added, one)
		case !reflect.DeepEqual(was, one):
			diff.changed = append(diff.changed, one)
		}
	}
	for _, one := range before {
		if _, isGone := left[id(one)]; isGone {
			diff.gone = append(diff.gone, one)
		}
	}
	return diff, nil
}
