package identity_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
)

// AZ-06, AZ-18: duplicates collapse, order is kept, and any number of spaces separates scopes.
func TestParseScopes_AZ18(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a":                               "a",
		"b a":                             "b a",
		"b a b a":                         "b a",
		"invoices:read invoices:write":    "invoices:read invoices:write",
		"!#[]~ https://example.com/scope": "!#[]~ https://example.com/scope",
		strings.Repeat("x", 128):          strings.Repeat("x", 128),
		strings.Repeat("a ", 99) + "a":    "a",
		"  b   a ":                        "b a",
		" a":                              "a",
		"a ":                              "a",
		"":                                "",
		"   ":                             "",
	} {
		s, err := identity.ParseScopes(text)
		if err != nil || s.String() != want {
			t.Errorf("ParseScopes(%q) = %q, %v; want %q", text, s, err, want)
		}
	}
}

// AZ-06: an invalid scope parameter is rejected, with a text that can be sent to the client.
func TestParseScopesRefuses(t *testing.T) {
	t.Parallel()
	const character = "has a character that is not allowed"
	wire := regexp.MustCompile(`^[\x20-\x21\x23-\x5B\x5D-\x7E]+$`) // RFC 6749 5.2
	var many []string
	for i := range 101 {
		many = append(many, strings.Repeat("x", i+1))
	}
	for text, want := range map[string]string{
		"a  \t":                           "scope 2 " + character,
		"a  b\u00a0":                      "scope 2 " + character,
		"a\tb":                            "scope 1 " + character,
		"a b\n":                           "scope 2 " + character,
		`a "b"`:                           "scope 2 " + character,
		`a\b`:                             "scope 1 " + character,
		"a\x00":                           "scope 1 " + character,
		"a\x7f":                           "scope 1 " + character,
		"ä":                               "scope 1 " + character,
		"\xff":                            "scope 1 " + character,
		strings.Repeat("x", 129):          "scope 1 is longer than 128 characters",
		strings.Join(many, " "):           "more than 100 scopes",
		strings.Repeat("a ", 100_000):     "scope is too long",
		strings.Repeat("x", 10_000) + " ": "scope 1 is longer than 128 characters",
	} {
		s, err := identity.ParseScopes(text)
		if err == nil || err.Error() != want || !s.IsEmpty() {
			t.Errorf("ParseScopes(%.40q) = %q, %v; want %q", text, s, err, want)
		} else if !wire.MatchString(err.Error()) {
			t.Errorf("ParseScopes(%.40q): %q is no error_description", text, err)
		}
	}
}

func TestScopesAsSets(t *testing.T) {
	t.Parallel()
	ab, bc, none := identity.MustScopes("a", "b"), identity.MustScopes("c", "b"), identity.Scopes{}
	for name, row := range map[string]struct {
		got  identity.Scopes
		want string
	}{
		"union":                  {ab.Union(bc), "a b c"},
		"union, other way":       {bc.Union(ab), "c b a"},
		"union with none":        {ab.Union(none), "a b"},
		"union of none":          {none.Union(ab), "a b"},
		"intersection":           {ab.Intersect(bc), "b"},
		"intersection with none": {ab.Intersect(none), ""},
		"difference":             {ab.Minus(bc), "a"},
		"difference, other way":  {bc.Minus(ab), "c"},
		"difference with itself": {ab.Minus(ab), ""},
		"difference with none":   {ab.Minus(none), "a b"},
	} {
		if row.got.String() != row.want {
			t.Errorf("%s = %q, want %q", name, row.got, row.want)
		}
	}
	if ab.String() != "a b" || bc.String() != "c b" {
		t.Errorf("the sets themselves changed: %q, %q", ab, bc)
	}
	for name, holds := range map[string]bool{
		"has":                ab.Has("a") && !ab.Has("c") && !ab.Has("") && !ab.Has("A") && !none.Has("a"),
		"has all":            ab.HasAll(identity.MustScopes("b", "a")) && ab.HasAll(none) && none.HasAll(none),
		"has not all":        !ab.HasAll(bc) && !none.HasAll(ab),
		"equal in any order": ab.Equal(identity.MustScopes("b", "a")) && none.Equal(none),
		"not equal":          !ab.Equal(bc) && !ab.Equal(none) && !ab.Equal(identity.MustScopes("a")),
		"length":             ab.Len() == 2 && none.Len() == 0 && none.IsEmpty() && !ab.IsEmpty(),
	} {
		if !holds {
			t.Errorf("%s: does not hold", name)
		}
	}
}

func TestScopesDoNotChange(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b"}
	s := identity.MustScopes(names...)
	names[0] = "x"
	s.Names()[1] = "y"
	first, second := s.Union(identity.MustScopes("c")), s.Union(identity.MustScopes("d"))
	var walked []string
	for name := range s.All() {
		walked = append(walked, name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, walked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first.String() != "a b c" || second.String() != "a b d" {
		t.Errorf("unions share memory: %q, %q", first, second)
	}
}

func TestMustScopesPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("MustScopes takes a bad name")
		}
	}()
	identity.MustScopes("a b")
}

func TestScopesJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: `[]`, `["b","a"]`: `["b","a"]`, `["a","a"]`: `["a"]`, `null`: `[]`,
	} {
		var s identity.Scopes
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Errorf("unmarshal %s: %v", text, err)
		}
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("%s comes back as %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`"a b"`, `["a b"]`, `[""]`, `[1]`, `{}`} {
		s := identity.MustScopes("kept")
		if err := json.Unmarshal([]byte(text), &s); err == nil || s.String() != "kept" {
			t.Errorf("unmarshal %s = %q, %v", text, s, err)
		}
	}
}
