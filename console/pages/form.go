package pages

import (
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/site"
)

// form reads what a form of ours sent.
func (v *visit) form() (apierror.Form, error) {
	return site.Form(v.r)
}

// lines returns the lines of a text area that are not blank.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// ifGiven returns the entry, or nil if the field is empty.
func ifGiven(text string) *string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &text
}
