package appdata

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/internal/text"
)

// defaultMaxURL is how long a URL may be when its field does not say.
const defaultMaxURL = 2048

// checkValue returns why a value, in JSON, is not valid for the field, or "" if it is. Texts
// are taken as they are: nothing is trimmed or converted.
func checkValue(f valuestore.Field, value json.RawMessage) (reason string) {
	switch f.Type {
	case valuestore.Number:
		return checkNumber(f, string(value))
	case valuestore.Boolean:
		if text := string(value); text != "true" && text != "false" {
			return "must be true or false"
		}
		return ""
	}
	text, ok := textOf(value)
	if !ok {
		return "must be a string"
	}
	switch f.Type {
	case valuestore.Text:
		return checkLength(f, text, f.MaxLength)
	case valuestore.Date:
		return checkDate(f, text)
	case valuestore.URL:
		if !isURL(text) {
			return "must be an absolute URL of http or https"
		}
		longest := defaultMaxURL
		if f.MaxLength != nil {
			longest = *f.MaxLength
		}
		return checkLength(f, text, &longest)
	case valuestore.Choice:
		if !slices.Contains(f.Choices, text) {
			return "must be one of the choices"
		}
		return ""
	}
	return "has a field of an unknown type"
}

func checkLength(f valuestore.Field, text string, longest *int) string {
	switch n := utf8.RuneCountInString(text); {
	case f.MinLength != nil && n < *f.MinLength:
		return fmt.Sprintf("must have at least %d characters", *f.MinLength)
	case longest != nil && n > *longest:
		return fmt.Sprintf("must have at most %d characters", *longest)
	}
	return ""
}

func checkNumber(f valuestore.Field, text string) string {
	if !jsonNumber.MatchString(text) {
		return "must be a number"
	}
	n, ok := parseExact(text)
	switch {
	case !ok:
		return fmt.Sprintf("must have at most %d digits before and after the decimal point", maxDigits)
	case f.Min != nil && exceeds(*f.Min, json.Number(text)):
		return fmt.Sprintf("must be at least %s", *f.Min)
	case f.Max != nil && exceeds(json.Number(text), *f.Max):
		return fmt.Sprintf("must be at most %s", *f.Max)
	case f.Decimals != nil && n.decimals > *f.Decimals:
		return fmt.Sprintf("must have at most %d decimals", *f.Decimals)
	}
	return ""
}

func checkDate(f valuestore.Field, text string) string {
	switch {
	case !isDay(text):
		return "must be a date such as 2026-09-01"
	case f.From != nil && text < *f.From: // such dates sort as text
		return "must be " + *f.From + " or later"
	case f.To != nil && text > *f.To:
		return "must be " + *f.To + " or earlier"
	}
	return ""
}

// textOf reads a JSON string that every database can keep.
func textOf(value json.RawMessage) (string, bool) {
	var read *string // stays nil for null
	if !utf8.Valid(value) || json.Unmarshal(value, &read) != nil || read == nil {
		return "", false
	}
	return *read, text.IsStorable(*read)
}

// isDay reports a day of the calendar, from the year 1 on.
func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil && !strings.HasPrefix(text, "0000")
}

// isURL reports an absolute URL that every reader takes for the same one: browsers
// drop or replace spaces, control characters and backslashes, and what stands before
// an @ passes for the host.
func isURL(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\\' }) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	return u.Port() == "" || outbound.IsPort(u.Port())
}
