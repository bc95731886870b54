package apierror

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown bounds, in bytes, a value of the client that a response repeats, so
// that a request cannot choose the size of its own error.
const maxShown = 200

// interpolate replaces {p0}, {p1} … in one pass: a value that looks like a
// placeholder stays what the client sent.
func interpolate(template string, params []string) string {
	if len(params) == 0 {
		return template
	}
	pairs := make([]string, 0, 2*len(params))
	for i, value := range params {
		pairs = append(pairs, "{p"+strconv.Itoa(i)+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

// clip cuts text to at most limit bytes, between two characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// shownName makes a member or parameter name of the client fit for a message:
// plain names as they are, others quoted and clipped.
func shownName(name string) string {
	const maxName = 64
	plain := name != "" && len(name) <= maxName
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
	}
	if plain {
		return name
	}
	return strconv.QuoteToASCII(clip(name, maxName))
}

// describable makes text fit for error_description: RFC 6749 section 5.2 allows
// printable ASCII without the double quote and the backslash.
func describable(text string) string {
	allowed := func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r == '\\':
			return '/'
		case r < 0x20 || r > 0x7e:
			return '?'
		}
		return r
	}
	return strings.Map(allowed, text)
}

// quoted writes a quoted-string of RFC 9110 section 5.6.4 for a header.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r < 0x20 || r > 0x7e:
			continue // a header takes neither control characters nor UTF-8 safely
		case r == '"' || r == '\\':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
