package main

import (
	"strings"
	"testing"
)

// FuzzFindForm: on any page, a form that is found has the field.
func FuzzFindForm(f *testing.F) {
	for _, seed := range []string{
		`<form action="/a"><input name="email"><input type="hidden" name="a" value="&quot;"></form>`, `<form><form></form>`, `<form`, `<form action="`, `<form><input name="email"`, `<form><button name="email"></form></form>`, "\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		found, err := findForm(page, "email")
		if err != nil {
			return
		}
		if !strings.Contains(page, "<form") || !strings.Contains(page, "email") && !strings.Contains(page, "&") || found.hidden == nil {
			t.Fatalf("%q has %+v", page, found)
		}
	})
}
