package events

// Catalog is the events that there are. It never changes; the zero value is empty.
type Catalog struct {
	definitions []Definition
	byName      map[string]Definition
}

// All is a copy of the definitions, in order.
func (c Catalog) All() []Definition { return append([]Definition{}, c.definitions...) }

// Lookup finds a definition by its name.
func (c Catalog) Lookup(name string) (Definition, bool) {
	d, ok := c.byName[name]
	return d, ok
}

// DefaultCatalog is that of an accounting service.
func DefaultCatalog() Catalog { return Catalog{} }
