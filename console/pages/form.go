package pages

import (
	"net/http"
	"slices"
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

// markedBelow stands above a form whose fields have problems.
const markedBelow = "Please correct what is marked below."

// formField is a field of a form.
type formField struct {
	Name   string
	Member string // of the console's JSON; empty: it has the name of the field
	Label  string
	// Entry is the label of an entry of a list, before its number; empty: it has
	// only the label. The entries of a text area are lines.
	Entry string
	Codes []apierror.Code // of errors that are about this field
}

// lineEntry is the Entry of a text area.
const lineEntry = "Line"

// formFields are the fields of a form, in the order of the page.
type formFields []formField

// problem describes what is wrong with a field of a form. An empty Text means no problem.
type problem struct {
	ID   string // of the element with the text
	Text string
	// DescribedBy are the ids of the elements that describe the field: its hint, and its
	// problem.
	DescribedBy string
	IsFirst     bool // of the form's problems: its field has the focus
}

// At returns the problem for a box of a group: only the first box can have the focus.
func (p problem) At(index int) problem {
	p.IsFirst = p.IsFirst && index == 0
	return p
}

// filled is a form as it was sent, with what is wrong with it.
type filled struct {
	bodies.Form
	problems map[string]problem
}

// Problem returns the problem of a field, which may have hints with these ids.
func (f filled) Problem(field string, hints ...string) problem {
	p := f.problems[field]
	if p.Text != "" {
		hints = append(hints, p.ID)
	}
	p.DescribedBy = strings.Join(hints, " ")
	return p
}

// mark puts the messages of an error beside the fields that they are about, in the words of
// the form. The page shows all messages of the error above the form too.
func (v *visit) mark(err error, form bodies.Form, fields formFields) filled {
	marked, _ := v.sort(err, form, fields)
	return marked
}

// mend puts the messages of an error beside the fields that they are about, in the words of
// the form, and above the form only the others.
func (v *visit) mend(err error, form bodies.Form, fields formFields) filled {
	marked, others := v.sort(err, form, fields)
	if len(marked.problems) > 0 {
		v.alerts = slices.Insert(others, 0, markedBelow)
	}
	return marked
}

// sort sorts the messages of an error into those about a field of the form and the others.
func (v *visit) sort(err error, form bodies.Form, fields formFields) (marked filled, others []string) {
	e, ok := site.Problems(err)
	if !ok {
		return filled{Form: form}, nil
	}
	if len(v.by.Organizations()) < 2 { // no choice is shown
		fields = slices.DeleteFunc(slices.Clone(fields), func(f formField) bool { return f.Name == organizationField.Name })
	}
	found := make(map[string]problem)
	for _, p := range e.Problems() {
		field, text, ok := fields.inWords(p, form)
		if !ok {
			others = append(others, p.Text)
			continue
		}
		if before := found[field].Text; before != "" {
			text = before + ". " + text
		}
		found[field] = problem{ID: field + "-problem", Text: text}
	}
	for _, field := range fields {
		if first, ok := found[field.Name]; ok {
			first.IsFirst = true
			found[field.Name] = first
			break
		}
	}
	return filled{form, found}, others
}

// organizationField is shown only to members of several organizations.
var organizationField = formField{Name: "organization_id", Member: "organizationId", Label: "Organization"}

// inWords finds the field that a problem is about and says the problem as the form does: with
// the field's label in place of the path. "redirectUris[1] is not https" is "Line 2 is not
// https" of redirect_uris. A problem with a code is about the field that has the code.
func (f formFields) inWords(p apierror.Problem, form bodies.Form) (name, text string, ok bool) {
	member, entry, _ := strings.Cut(p.Path, "[")
	for _, field := range f {
		switch {
		case p.Code != "" && slices.Contains(field.Codes, p.Code):
			return field.Name, site.Capitalized(p.Text), true
		case p.Code == "" && member == field.member():
			rest, beginsWithPath := strings.CutPrefix(p.Text, p.Path)
			if !beginsWithPath {
				return field.Name, site.Capitalized(p.Text), true
			}
			return field.Name, field.labelOf(entry, form) + rest, true
		}
	}
	return "", "", false
}

// label is what the form calls a member.
func (f formFields) label(member string) string {
	for _, field := range f {
		if field.member() == member {
			return field.Label
		}
	}
	return member
}

func (f formField) member() string {
	if f.Member == "" {
		return f.Name
	}
	return f.Member
}

// labelOf returns what the form calls the field, or one of its entries if entry is an index with
// the bracket that ends it.
func (f formField) labelOf(entry string, form bodies.Form) string {
	n, err := strconv.Atoi(strings.TrimSuffix(entry, "]"))
	switch {
	case err != nil, f.Entry == "":
		return f.Label
	case f.Entry == lineEntry:
		return lineEntry + " " + strconv.Itoa(lineOf(form.Get(f.Name), n))
	}
	return f.Entry + " " + strconv.Itoa(n+1)
}

// lineOf returns the number of the line of a text area that has the entry at an index.
// Empty lines are not counted as entries.
func lineOf(text string, index int) int {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if index == 0 {
			return number
		}
		index--
	}
	return number
}
