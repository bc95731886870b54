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

// bound is how many of something an app has and may have.
type bound struct {
	Has, Most int
	What      string // in the plural
}

// IsFull reports that there cannot be another one.
func (b bound) IsFull() bool { return b.Has >= b.Most }

// ifGiven returns the entry, or nil if the field is empty.
func ifGiven(text string) *string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &text
}
