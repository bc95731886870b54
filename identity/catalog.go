package identity

import (
	"fmt"
	"strings"
)

// Scope is one entry of a catalog.
type Scope struct {
	Name string

	// Description is the text on the consent page about what an app with this
	// scope can do, in plain words: "See your invoices".
	Description string

	// Summary is the text in the developer console and in the API description: "Read
	// invoices". Empty: Description.
	Summary string

	// Internal scopes are known to the server and published, and no app may
	// request them.
	Internal bool
}

// ScopeCatalog is every scope that a server knows. Make it with [NewScopeCatalog];
// the zero value knows none. It never changes.
type ScopeCatalog struct {
	entries []Scope
	byName  map[string]Scope
}

// NewScopeCatalog makes a catalog in the order given. Names must be scope-tokens, no
// name may come twice, and each needs a description.
func NewScopeCatalog(entries ...Scope) (ScopeCatalog, error) {
	c := ScopeCatalog{byName: make(map[string]Scope, len(entries))}
	for i, entry := range entries {
		if problem := checkScope(entry.Name); problem != "" {
			return ScopeCatalog{}, fmt.Errorf("scope catalog: entry %d: name %s", i+1, problem)
		}
		if _, taken := c.byName[entry.Name]; taken {
			return ScopeCatalog{}, fmt.Errorf("scope catalog: %s is listed twice", entry.Name)
		}
		if strings.TrimSpace(entry.Description) == "" {
			return ScopeCatalog{}, fmt.Errorf("scope catalog: %s has no description", entry.Name)
		}
		if entry.Summary == "" {
			entry.Summary = entry.Description
		}
		c.byName[entry.Name] = entry
		c.entries = append(c.entries, entry)
	}
	if len(c.entries) > MaxScopes {
		return ScopeCatalog{}, fmt.Errorf("scope catalog: more than %d scopes", MaxScopes)
	}
	return c, nil
}

// DefaultScopes returns the catalog of the reference server: the profile, the events, and
// reading and writing of each type of record.
func DefaultScopes() ScopeCatalog {
	c, err := NewScopeCatalog(
		Scope{Name: "profile:read", Description: "See your name and the name of your business", Summary: "Read the names of the user and the business"},
		Scope{Name: "events:read", Description: "See what happens in your business, among the records it may see", Summary: "Read the events of what the app may read"},
		Scope{Name: "invoices:read", Description: "See your invoices", Summary: "Read invoices"},
		Scope{Name: "invoices:write", Description: "Create and change invoices"},
		Scope{Name: "customers:read", Description: "See your customers", Summary: "Read customers"},
		Scope{Name: "customers:write", Description: "Add and change customers"},
		Scope{Name: "payments:read", Description: "See your payments", Summary: "Read payments"},
		Scope{Name: "payments:write", Description: "Record, change and delete payments"},
		Scope{Name: "accounts:read", Description: "See your chart of accounts", Summary: "Read the chart of accounts"},
		Scope{Name: "accounts:write", Description: "Change your chart of accounts", Summary: "Change the chart of accounts"},
		Scope{Name: "journal:read", Description: "See your journal entries", Summary: "Read journal entries"},
		Scope{Name: "journal:write", Description: "Post journal entries"},
		Scope{Name: "suppliers:read", Description: "See your suppliers", Summary: "Read suppliers"},
		Scope{Name: "suppliers:write", Description: "Add and change suppliers"},
		Scope{Name: "internal:admin", Description: "Administer the service", Internal: true},
	)
	if err != nil {
		panic("identity: " + err.Error()) // the list above is wrong
	}
	return c
}

// All returns a copy of the entries, in order.
func (c ScopeCatalog) All() []Scope { return append([]Scope{}, c.entries...) }

// Names returns every scope, the internal ones included: what scopes_supported publishes.
func (c ScopeCatalog) Names() Scopes {
	return c.pick(func(Scope) bool { return true })
}

// Requestable returns the scopes that apps may request.
func (c ScopeCatalog) Requestable() Scopes {
	return c.pick(func(s Scope) bool { return !s.Internal })
}

// Lookup finds a scope by its name.
func (c ScopeCatalog) Lookup(name string) (Scope, bool) {
	entry, ok := c.byName[name]
	return entry, ok
}

// Check returns nil when every scope is in the catalog, and otherwise an error
// that names those that are not.
func (c ScopeCatalog) Check(scopes Scopes) error {
	return refuse("unknown scope", scopes.Minus(c.Names()))
}

// CheckRequestable is Check for what an app asks for: scopes that are internal are
// refused as if they were unknown.
func (c ScopeCatalog) CheckRequestable(scopes Scopes) error {
	return refuse("unknown scope", scopes.Minus(c.Requestable()))
}

func (c ScopeCatalog) pick(wanted func(Scope) bool) Scopes {
	var s Scopes
	for _, entry := range c.entries {
		if wanted(entry) {
			s.names = append(s.names, entry.Name)
		}
	}
	return s
}

func refuse(problem string, scopes Scopes) error {
	if scopes.IsEmpty() {
		return nil
	}
	return &scopeError{Problem: problem, Names: scopes.Names()}
}
