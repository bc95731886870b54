package identity_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
)

// AZ-06: accepted scopes have the syntax of RFC 6749 3.3, each scope once, in the given
// order, and parsing their text again returns the same scopes.
func FuzzParseScopes(f *testing.F) {
	for _, seed := range []string{"", " ", "invoices:read", "a b a", "a  b", " a", "a ", "a\tb", "a\"b", "a\\b", "ä", strings.Repeat("a ", 200), strings.Repeat("a", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scopes, err := identity.ParseScopes(text)
		if err != nil {
			return
		}
		position := 0
		seen := map[string]bool{}
		for name := range scopes.All() {
			if seen[name] || name == "" || strings.ContainsAny(name, " \"\\") {
				t.Fatalf("%q gave %q", text, scopes)
			}
			seen[name] = true
			at := strings.Index(text[position:], name)
			if at < 0 {
				t.Fatalf("%q is not in order in %q", scopes, text)
			}
			position += at
		}
		again, err := identity.ParseScopes(scopes.String())
		if err != nil || !again.Equal(scopes) || again.String() != scopes.String() {
			t.Fatalf("%q read again: %q, %v", scopes, again, err)
		}
	})
}

// FuzzScopeList: a list that is read is written as it was, and reads the same.
func FuzzScopeList(f *testing.F) {
	for _, seed := range []string{`[]`, `null`, `["a"]`, `["a","b","a"]`, `["a", "b"]`, `["a\u0062"]`, `["a\",\"b"]`, `["",""]`, `["a"`, `[1]`, `["a"],["b"]`, "", "[\"\xff\"]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, again identity.Scopes
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			return
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &again); err != nil || again.String() != got.String() {
			t.Fatalf("%q read again: %q, %v", written, again, err)
		}
	})
}
