package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/optional"
)

// form reads what a form of ours sent.
func (v *visit) form() (bodies.Form, error) {
	return site.Form(v.r)
}

// sentVersion returns the version in the hidden field of a form. A form without the field is
// not checked, and a value that is not a number is never the last version.
func sentVersion(form bodies.Form) optional.Member[int64] {
	text := form.Get("version")
	if text == "" {
		return optional.Member[int64]{}
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		version = -1
	}
	return optional.Of(version)
}

// setVersion fills in the hidden field.
func setVersion(form bodies.Form, version int64) {
	form["version"] = []string{strconv.FormatInt(version, 10)}
}

// conflict says in the words of a page that somebody else has changed what its form is about;
// it returns any other error as it is. The form keeps what was entered and gets the version
// as it is now: sending it again replaces the other change.
func conflict(err error, form bodies.Form, what string, version int64) error {
	if !apierror.HasCode(err, codes.Conflict.Code) {
		return err
	}
	setVersion(form, version)
	return apierror.Entry{
		Code: codes.Conflict.Code, Status: http.StatusConflict,
		Message: "somebody else has changed {p0} since you opened this page. What you entered is below and is not saved. " +
			"Open this page in another tab to see the other change. If you save here again, it is replaced.",
	}.New(what)
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
