package locale

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/identity"
)

// The open families of keys.
const (
	scopeKey      = "scope:"
	permissionKey = "permission:"
	linkKey       = "link:"
)

// Language is one language with its texts. The zero value is built-in English. It is
// safe for concurrent use.
type Language struct {
	tag    string
	layers []layer // the closest first; English is the last
}

type layer struct {
	texts     Texts
	isBuiltIn bool
	isEnglish bool
}

func (l layer) has(key string) bool {
	_, ok := l.texts[key]
	return ok
}

// describes reports whether a layer has a description of a scope. Built-in descriptions are
// for the scopes of identity.DefaultScopes as they are described there: one that a host
// describes in other words may mean something else.
func (l layer) describes(scope identity.Scope) bool {
	return l.has(scopeKey+scope.Name) && (!l.isBuiltIn || scope.Description == defaultDescription(scope.Name))
}

// Tag returns the language tag, as the host spelled it.
func (l Language) Tag() string {
	if l.tag == "" {
		return english
	}
	return l.tag
}

// IsEnglish reports whether texts in English need no mark.
func (l Language) IsEnglish() bool {
	return slices.Contains(broader(canonical(l.Tag())), english)
}

// Text returns the text of a key. Arguments are the names and values of its
// placeholders: Text("consent.title", "app", "Ledger Sync"). It returns the key itself
// if there is no such text.
func (l Language) Text(key string, arguments ...string) string {
	var b strings.Builder
	for _, part := range l.Parts(key, arguments...) {
		b.WriteString(part.Text)
	}
	return b.String()
}

// Part is a piece of a text.
type Part struct {
	Text string
	Name string // of the placeholder that the text stands for; empty for plain text
}

// Parts is Text for pages that mark the values: it returns plain text and values in turn.
func (l Language) Parts(key string, arguments ...string) []Part {
	text, ok := l.find(key)
	if !ok {
		return []Part{{Text: key}}
	}
	parts := split(text)
	for i, part := range parts {
		if part.Name != "" {
			parts[i].Text = argument(arguments, part.Name)
		}
	}
	return parts
}

// split cuts a text at its placeholders, whose parts have no text yet.
func split(text string) []Part {
	var parts []Part
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed || name == "" {
			return append(parts, Part{Text: text})
		}
		if before != "" {
			parts = append(parts, Part{Text: before})
		}
		parts = append(parts, Part{Name: name})
		text = after
	}
	return parts
}

func argument(arguments []string, name string) string {
	for i := 0; i+1 < len(arguments); i += 2 {
		if arguments[i] == name {
			return arguments[i+1]
		}
	}
	return ""
}

// Scope returns the description of a scope, the scope's own if there is no other.
func (l Language) Scope(scope identity.Scope) string {
	for _, layer := range l.layers {
		if layer.describes(scope) {
			return layer.texts[scopeKey+scope.Name]
		}
	}
	return scope.Description
}

var defaultScopes = identity.DefaultScopes()

func defaultDescription(name string) string {
	scope, _ := defaultScopes.Lookup(name)
	return scope.Description
}

// Permission returns the description of a permission, or its name if there is none.
func (l Language) Permission(name string) string {
	if text, ok := l.find(permissionKey + name); ok {
		return text
	}
	return name
}

// Link returns the text of a link of the host's theme.
func (l Language) Link(text, href string) string {
	if own, ok := l.find(linkKey + href); ok {
		return own
	}
	return text
}

// Time returns a time in UTC.
func (l Language) Time(at time.Time) string {
	layout, _ := l.find("time.layout")
	return at.UTC().Format(layout)
}

func (l Language) find(key string) (string, bool) {
	for _, layer := range l.layers {
		if text, ok := layer.texts[key]; ok {
			return text, true
		}
	}
	text, ok := englishTexts[key]
	return text, ok
}

// missing returns the keys of the texts that a language would show in English. The first
// language is the one in which the host describes its own scopes.
func (l Language) missing(scopes identity.ScopeCatalog, isFirst bool) []string {
	if l.IsEnglish() {
		return nil
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(englishTexts)) {
		if !strings.HasPrefix(key, permissionKey) && !slices.ContainsFunc(l.layers, func(one layer) bool { return !one.isEnglish && one.has(key) }) {
			keys = append(keys, key)
		}
	}
	for _, scope := range scopes.All() {
		if !isFirst && !scope.Internal && !l.describes(scope) {
			keys = append(keys, scopeKey+scope.Name)
		}
	}
	return keys
}

// describes reports whether a language has a description of a scope.
func (l Language) describes(scope identity.Scope) bool {
	return slices.ContainsFunc(l.layers, func(one layer) bool { return !one.isEnglish && one.describes(scope) })
}

// placeholders returns the names in the braces of a text, sorted.
func placeholders(text string) []string {
	names := []string{}
	for _, part := range split(text) {
		if part.Name != "" {
			names = append(names, part.Name)
		}
	}
	slices.Sort(names)
	return names
}
