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
