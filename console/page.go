package console

// How many entries a page of a list has.
const (
	MaxLimit     = 100
	DefaultLimit = 50
)

// Page asks for a part of a list; the zero value for its first one.
type Page struct {
	After string // the NextCursor of the page before
	Limit int    // 1 to MaxLimit; anything else means DefaultLimit
}

func (p Page) limit() int {
	if p.Limit < 1 || p.Limit > MaxLimit {
		return DefaultLimit
	}
	return p.Limit
}

// Paged is a part of a list.
type Paged[T any] struct {
	Items      []T
	NextCursor string // empty: the list ends here
}

// cut makes a page of items that were read with a limit of one more than the page size. The
// additional item shows whether there is another page.
func cut[T any](items []T, limit int, idOf func(T) string) Paged[T] {
	if len(items) <= limit {
		return Paged[T]{Items: items}
	}
	return Paged[T]{Items: items[:limit], NextCursor: idOf(items[limit-1])}
}
