package appdata

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/optional"
)

// demand is the required form of a member.
type demand[T any] struct {
	text string // "must be " this
	fits func(T) bool
}

var (
	aLabel = demand[string]{
		fmt.Sprintf("a text of at most %d characters", maxLabel),
		func(s string) bool { return utf8.RuneCountInString(s) <= maxLabel },
	}
	anExactNumber = demand[json.Number]{fmt.Sprintf("a number of at most %d digits before and after the decimal point", maxDigits), isExact}
	aDay          = demand[string]{"a date such as 2026-09-01", isDay}
)

func aWholeNumber(low, high int) demand[int] {
	return demand[int]{fmt.Sprintf("a whole number from %d to %d", low, high), func(n int) bool { return n >= low && n <= high }}
}

// applyRules sets the rules of a field of a known type. Choices are checked later.
func (d Declaration) applyRules(f *valuestore.Field, v *apierror.Validation) {
	d.refuseForeign(f.Type, v)
	switch f.Type {
	case valuestore.Text:
		set(v, "minLength", d.MinLength, aWholeNumber(0, maxText), &f.MinLength)
		set(v, "maxLength", d.MaxLength, aWholeNumber(1, maxText), &f.MaxLength)
		if f.MinLength != nil && f.MaxLength != nil && *f.MinLength > *f.MaxLength {
			v.Add("minLength", "must not be greater than maxLength")
		}
	case valuestore.Number:
		set(v, "min", d.Min, anExactNumber, &f.Min)
		set(v, "max", d.Max, anExactNumber, &f.Max)
		set(v, "decimals", d.Decimals, aWholeNumber(0, maxDigits), &f.Decimals)
		if f.Min != nil && f.Max != nil && exceeds(*f.Min, *f.Max) {
			v.Add("min", "must not be greater than max")
		}
	case valuestore.Date:
		set(v, "from", d.From, aDay, &f.From)
		set(v, "to", d.To, aDay, &f.To)
		if f.From != nil && f.To != nil && *f.From > *f.To { // such dates sort as text
			v.Add("from", "must not be later than to")
		}
	case valuestore.URL:
		set(v, "maxLength", d.MaxLength, aWholeNumber(1, maxText), &f.MaxLength)
	case valuestore.Choice:
		if d.Choices.IsSent {
			f.Choices = valueOf(d.Choices).trimmed()
		}
	}
}

// refuseForeign names the rules that are given and that the type does not have.
func (d Declaration) refuseForeign(of valuestore.Type, v *apierror.Validation) {
	for _, member := range []struct {
		name    string
		isGiven bool
	}{
		{"minLength", d.MinLength.Value != nil}, {"maxLength", d.MaxLength.Value != nil},
		{"min", d.Min.Value != nil}, {"max", d.Max.Value != nil}, {"decimals", d.Decimals.Value != nil},
		{"from", d.From.Value != nil}, {"to", d.To.Value != nil}, {"choices", d.Choices.Value != nil},
	} {
		if member.isGiven && !slices.Contains(rulesOf[of], member.name) {
			v.Add(member.name, "is not a rule of %s", of)
		}
	}
}

// set sets a member, or returns what it must be.
func set[T any](v *apierror.Validation, name string, m optional.Member[T], must demand[T], to **T) {
	switch {
	case !m.IsSent:
	case m.Value != nil && !must.fits(*m.Value):
		v.Add(name, "must be %s", must.text)
	default:
		*to = m.Value
	}
}
