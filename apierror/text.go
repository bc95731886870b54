package apierror

import (
	"strconv"
	"strings"
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
