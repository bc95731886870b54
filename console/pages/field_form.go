package pages

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
)

// declaration is what a form says of label and rules. Fields that are empty say null,
// which is no rule: whether a rule belongs to the type is the service's to judge.
func declaration(form apierror.Form) appdata.Declaration {
	d := appdata.Declaration{
		Label:     orNull(form.Get("label")),
		MinLength: numberOrNull(form.Get("min_length")), MaxLength: numberOrNull(form.Get("max_length")),
		Min: exactOrNull(form.Get("min")), Max: exactOrNull(form.Get("max")), Decimals: numberOrNull(form.Get("decimals")),
		From: orNull(form.Get("from")), To: orNull(form.Get("to")),
		Choices: appdata.Null[[]string](),
	}
	if choices := lines(form.Get("choices")); len(choices) > 0 {
		d.Choices = appdata.Given(choices)
	}
	return d
}

func orNull(text string) appdata.Member[string] {
	if given := ifGiven(text); given != nil {
		return appdata.Given(*given)
	}
	return appdata.Null[string]()
}

func exactOrNull(text string) appdata.Member[json.Number] {
	if given := ifGiven(text); given != nil {
		return appdata.Given(json.Number(*given))
	}
	return appdata.Null[json.Number]()
}

// numberOrNull makes something that no rule takes of what is no whole number: the service
// says what it must be.
func numberOrNull(text string) appdata.Member[int] {
	given := ifGiven(text)
	if given == nil {
		return appdata.Null[int]()
	}
	n, err := strconv.Atoi(*given)
	if err != nil {
		return appdata.Given(-1)
	}
	return appdata.Given(n)
}

// fieldForm is a form that is filled with what a field is.
func fieldForm(f appdata.Field) apierror.Form {
	return apierror.Form{
		"label": {f.Label}, "min_length": {shown(f.MinLength)}, "max_length": {shown(f.MaxLength)},
		"min": {shown(f.Min)}, "max": {shown(f.Max)}, "decimals": {shown(f.Decimals)}, "from": {shown(f.From)}, "to": {shown(f.To)},
		"choices": {strings.Join(f.Choices, "\n")},
	}
}

// shown is a rule as it is entered; empty for none.
func shown[T any](rule *T) string {
	if rule == nil {
		return ""
	}
	return fmt.Sprint(*rule)
}

// rulesInWords says what values must be like; empty when anything of the type goes.
func rulesInWords(f appdata.Field) string {
	var all []string
	add := func(lead, rule, rest string) {
		if rule != "" {
			all = append(all, lead+rule+rest)
		}
	}
	add("at least ", shown(f.MinLength), " characters")
	add("at most ", shown(f.MaxLength), " characters")
	add("from ", shown(f.Min), "")
	add("up to ", shown(f.Max), "")
	add("decimals: ", shown(f.Decimals), "")
	add("from ", shown(f.From), "")
	add("until ", shown(f.To), "")
	add("one of ", strings.Join(f.Choices, ", "), "")
	return strings.Join(all, ", ")
}
