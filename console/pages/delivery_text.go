package pages

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a part of a text, and the class that colours it. Templates escape the text.
type piece struct{ Class, Text string }

// colored returns a body with lines and indentation, in pieces; one that is not JSON is one
// piece.
func colored(body []byte) []piece {
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return []piece{{Text: asText(body)}}
	}
	var pieces []piece
	for text := indented.Bytes(); len(text) > 0; {
		var class string
		var end int
		switch c := text[0]; {
		case c == '"':
			class, end = "json-text", stringEnd(text)
			if bytes.HasPrefix(text[end:], []byte(":")) {
				class = "json-name"
			}
		case c == '-' || c >= '0' && c <= '9':
			class, end = "json-number", spanOf(text, "+-.0123456789Ee")
		case c >= 'a' && c <= 'z':
			class, end = "json-word", spanOf(text, "abcdefghijklmnopqrstuvwxyz")
		default:
			end = spanOf(text, "{}[]:, \n")
		}
		pieces = append(pieces, piece{class, asText(text[:end])})
		text = text[end:]
	}
	return pieces
}

// stringEnd returns the length of the JSON string that a valid text begins with.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// spanOf returns how many of the first bytes of a text are of a set, at least one.
func spanOf(text []byte, set string) int {
	end := bytes.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(set, r) })
	if end < 0 {
		end = len(text)
	}
	return max(end, 1)
}

// maxArgument is how much of a body may be an argument: Linux takes at most 128 KiB.
const maxArgument = 100 << 10

// curl returns a request as a command for a POSIX shell. By itself curl takes brackets and braces
// in a URL for several URLs, and resolves the dots of its path.
func curl(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	data := quoted(string(body))
	isLarge := len(data) > maxArgument
	if isLarge {
		text.WriteString("printf %s " + data + " | ")
	}
	text.WriteString("curl -i " + quoted(r.URL.String()) + " --globoff --path-as-is")
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			text.WriteString(" \\\n  -H " + quoted(name+": "+value))
		}
	}
	if isLarge { // a shell prints it by itself, without a limit
		text.WriteString(" \\\n  --data-binary @-")
	} else {
		text.WriteString(" \\\n  --data-raw " + data)
	}
	return text.String(), nil
}

// quoted returns a text as one word of a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// asText shows untrusted bytes as text: invisible characters are escaped.
func asText(raw []byte) string {
	var text strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1):
			text.Write(raw[:size])
		case size == 1:
			text.WriteString(`\x` + strconv.FormatUint(uint64(raw[0])|1<<8, 16)[1:])
		default:
			text.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		raw = raw[size:]
	}
	return text.String()
}
