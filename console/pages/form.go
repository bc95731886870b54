package pages

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
)

// form reads what a form of ours sent.
func (v *visit) form() (apierror.Form, error) {
	return apierror.DecodeForm(v.r, apierror.FormLimits{MaxBytes: 256 << 10, MaxParameters: 1000})
}

// lines are those of a text area that say something.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// ifGiven is what was entered, or nil: an empty field says nothing.
func ifGiven(text string) *string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &text
}

// isText reports whether a query holds nothing that a database would choke on.
func isText(query string) bool {
	text, err := url.QueryUnescape(query)
	return err == nil && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// unixLines is the text of a text area as it was typed: browsers send every end of a
// line as two characters.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
