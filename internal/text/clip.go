package text

import (
	"strconv"
	"unicode/utf8"
)

// Clip cuts a text to at most limit bytes, between two characters.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Name returns the name of a member or parameter that a client sent, fit for a message: plain
// names as they are, others quoted and clipped.
func Name(name string) string {
	const maxName = 64
	plain := name != "" && len(name) <= maxName
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
	}
	if plain {
		return name
	}
	return strconv.QuoteToASCII(Clip(name, maxName))
}

// IsPath reports whether a path is valid UTF-8 without NUL, and not the * of OPTIONS.
func IsPath(path string) bool { return IsStorable(path) && path != "*" }
