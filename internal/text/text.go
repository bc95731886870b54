// Package text checks texts that come from outside.
package text

import (
	"strings"
	"unicode/utf8"
)

// IsStorable reports whether s is valid UTF-8 without NUL. PostgreSQL rejects any other
// text, even in a comparison.
func IsStorable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// IsPrintable reports whether s has only printable ASCII characters, spaces included.
func IsPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// IsVisible reports whether s has only printable ASCII characters and no spaces.
func IsVisible(s string) bool { return IsPrintable(s) && !strings.Contains(s, " ") }
