package pages

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/site"
)

// markedBelow stands above a form whose fields have problems.
const markedBelow = "Please correct what is marked below."

// labels are what a form calls its fields, by the names of the members that the console's
// JSON has for them. The name of a field is that of its member in snake case.
type labels map[string]string

// textAreas are the members whose entries are the lines of a text area.
var textAreas = map[string]bool{"redirectUris": true}

// problem is what is wrong with a field of a form. The zero value is nothing.
type problem struct {
	ID      string // of the element with the text
	Text    string
	IsFirst bool // of the form's problems
}

// filled is a form as it was sent, with what is wrong with it.
type filled struct {
	apierror.Form
	problems map[string]problem
}

// Problem is that of a field.
func (f filled) Problem(field string) problem { return f.problems[field] }

// mend sorts the messages of an error: those about a field of the form stand beside it, in
// the words of the form, and the others above the form. Fields are in the order of the page.
func (v *visit) mend(err error, form apierror.Form, of labels, order ...string) filled {
	v.problems, v.alerts = nil, nil
	e, ok := site.Problems(err)
	if !ok {
		return filled{Form: form}
	}
	found := make(map[string]problem)
	for _, message := range e.Messages() {
		field, text, ok := of.inWords(message, form)
		if !ok || field == "organization_id" && len(v.by.Organizations()) < 2 { // no choice is shown
			v.alerts = append(v.alerts, message)
			continue
		}
		if before := found[field].Text; before != "" {
			text = before + ". " + text
		}
		found[field] = problem{ID: field + "-problem", Text: text}
	}
	for _, field := range order {
		if first, ok := found[field]; ok {
			first.IsFirst = true
			found[field] = first
			break
		}
	}
	if len(found) > 0 {
		v.alerts = slices.Insert(v.alerts, 0, markedBelow)
	}
	v.problems = found
	return filled{form, found}
}

// inWords finds the field that a message is about and says it as the form does:
// "redirectUris[1] is not https" is "Line 2 is not https" of redirect_uris.
func (l labels) inWords(message string, form apierror.Form) (field, text string, ok bool) {
	end := strings.IndexFunc(message, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return "", "", false
	}
	member, rest := message[:end], message[end:]
	label, ok := l[member]
	if !ok {
		return "", "", false
	}
	field = snakeCase(member)
	index, after, isEntry := strings.Cut(strings.TrimPrefix(rest, "["), "]")
	n, err := strconv.Atoi(index)
	if strings.HasPrefix(rest, "[") && isEntry && err == nil {
		if !textAreas[member] {
			return field, label + after, true
		}
		return field, "Line " + strconv.Itoa(lineOf(form.Get(field), n)) + after, true
	}
	return field, label + rest, true
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

func snakeCase(member string) string {
	var b strings.Builder
	for _, r := range member {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
