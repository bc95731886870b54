package identity

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// MaxScopes is how many scopes a set may have.
	MaxScopes = 100

	// maxScopeLength is how long one scope may be, in bytes.
	maxScopeLength = 128
)

// Scopes is a set of scopes that remembers the order in which they were named. It
// never changes; methods return new sets. The zero value is empty.
type Scopes struct {
	names []string
}

// scopeError describes what is wrong with a list of scopes. Its text has only characters
// that an OAuth error_description may have (RFC 6749 5.2).
type scopeError struct {
	// Names are the rejected scopes, if they are well-formed.
	Names []string

	Problem string // such as "unknown scope"
}

// Error returns the problem, and the rejected scopes if they can be shown.
func (e *scopeError) Error() string {
	if len(e.Names) == 0 {
		return e.Problem
	}
	return e.Problem + ": " + strings.Join(e.Names, " ")
}

// ParseScopes reads the scope parameter of RFC 6749 3.3: scopes with spaces between them.
// Several spaces count as one, and those at both ends not at all, because some clients send
// them. Duplicates collapse, order is kept. A text without scopes gives the empty set.
// The texts of errors have only characters that an OAuth error_description may have.
func ParseScopes(text string) (Scopes, error) {
	if len(text) > MaxScopes*(maxScopeLength+1) {
		return Scopes{}, &scopeError{Problem: "scope is too long"}
	}
	return NewScopes(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' })...)
}

// NewScopes makes a set of names, none at all included. Each must be a scope-token of
// RFC 6749 3.3.
func NewScopes(names ...string) (Scopes, error) {
	s := Scopes{names: make([]string, 0, min(len(names), MaxScopes))}
	for i, name := range names {
		if problem := checkScope(name); problem != "" {
			return Scopes{}, &scopeError{Problem: fmt.Sprintf("scope %d %s", i+1, problem)}
		}
		if s.Has(name) {
			continue
		}
		if len(s.names) == MaxScopes {
			return Scopes{}, &scopeError{Problem: fmt.Sprintf("more than %d scopes", MaxScopes)}
		}
		s.names = append(s.names, name)
	}
	return s, nil
}

// MustScopes is NewScopes for names in the source code; it panics on an error.
func MustScopes(names ...string) Scopes {
	s, err := NewScopes(names...)
	if err != nil {
		panic("identity: " + err.Error())
	}
	return s
}

// Has reports whether name is in the set.
func (s Scopes) Has(name string) bool { return slices.Contains(s.names, name) }

// HasAll reports whether every scope of other is in the set. An empty one always is.
func (s Scopes) HasAll(other Scopes) bool { return other.Minus(s).IsEmpty() }

// Union returns the scopes of s, then those that only other has.
func (s Scopes) Union(other Scopes) Scopes {
	return Scopes{names: slices.Concat(s.names, other.Minus(s).names)}
}

// Intersect returns the scopes that both have, in the order of s.
func (s Scopes) Intersect(other Scopes) Scopes { return s.keep(other.Has) }

// Minus returns the scopes that only s has. What is missing in s is other.Minus(s).
func (s Scopes) Minus(other Scopes) Scopes {
	return s.keep(func(name string) bool { return !other.Has(name) })
}

// Equal reports whether both have the same scopes, in any order.
func (s Scopes) Equal(other Scopes) bool {
	return len(s.names) == len(other.names) && s.HasAll(other)
}

// IsEmpty reports whether the set has no scopes.
func (s Scopes) IsEmpty() bool { return len(s.names) == 0 }

// Len returns the number of scopes.
func (s Scopes) Len() int { return len(s.names) }

// All goes over the scopes in order.
func (s Scopes) All() iter.Seq[string] { return slices.Values(s.names) }

// Names returns a copy of the scopes in order; never nil, so that it marshals as a list.
func (s Scopes) Names() []string { return append([]string{}, s.names...) }

// String returns the form of RFC 6749 3.3: separated by single spaces.
func (s Scopes) String() string { return strings.Join(s.names, " ") }

// MarshalJSON writes a list of strings; an empty set is [].
func (s Scopes) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// UnmarshalJSON reads a list of strings and checks them as NewScopes does. Like any
// value, it leaves the set as it was when it reads null.
func (s *Scopes) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return fmt.Errorf("scopes: %w", err)
	}
	if names == nil {
		return nil
	}
	read, err := NewScopes(names...)
	if err != nil {
		return err
	}
	*s = read
	return nil
}

func (s Scopes) keep(wanted func(name string) bool) Scopes {
	if !slices.ContainsFunc(s.names, func(name string) bool { return !wanted(name) }) {
		return s // which never changes: the usual case costs nothing
	}
	var kept Scopes
	for _, name := range s.names {
		if wanted(name) {
			kept.names = append(kept.names, name)
		}
	}
	return kept
}

// checkScope holds a name to scope-token: %x21 / %x23-5B / %x5D-7E, that is, visible
// ASCII without quote and backslash.
func checkScope(name string) (problem string) {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxScopeLength:
		return fmt.Sprintf("is longer than %d characters", maxScopeLength)
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return "has a character that is not allowed"
		}
	}
	return ""
}
