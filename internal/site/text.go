package site

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/bodies"
)

// Form reads the values of a submitted form.
func Form(r *http.Request) (bodies.Form, error) {
	return bodies.DecodeForm(r, bodies.FormLimits{MaxBytes: 256 << 10, MaxParameters: 1000})
}

// Path joins escaped steps to a path below the prefix.
func Path(steps ...string) string {
	var joined strings.Builder
	for _, step := range steps {
		joined.WriteString("/" + url.PathEscape(step))
	}
	return joined.String()
}

// UnixLines returns the text of a text area as it was typed: browsers send every line
// break as two characters.
func UnixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// isText reports whether a query holds only text that a database can keep.
func isText(query string) bool {
	text, err := url.QueryUnescape(query)
	return err == nil && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// Grouped returns a number with separators between thousands: 1,234,567.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// InWords returns the text of an action, as audit.Actions has it: "webhook.created" is "Webhook
// created".
func InWords(action audit.Action) string {
	for known, words := range audit.Actions() {
		if known == action {
			return words
		}
	}
	return Capitalized(strings.NewReplacer(".", " ", "_", " ").Replace(string(action)))
}

// Capitalized returns a text with an upper-case first letter.
func Capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
