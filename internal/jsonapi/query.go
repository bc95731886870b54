package jsonapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
)

// Query is the query of a call. Parameters that the call does not read are ignored, unless
// it says [Query.Only].
type Query struct {
	values   url.Values
	Problems apierror.Validation // what is wrong with the parameters that were read
}

// ParseQuery splits a raw query.
func ParseQuery(raw string) *Query {
	q := &Query{}
	var err error
	if q.values, err = url.ParseQuery(raw); err != nil {
		q.Problems.Add("", "the query is not well-formed")
	}
	return q
}

// Err returns a validation error that names everything that is wrong; nil if nothing is.
func (q *Query) Err() error { return q.Problems.Err() }

// Has reports whether a parameter is given, even if it is empty.
func (q *Query) Has(name string) bool { return q.values.Has(name) }

// Only refuses all other parameters.
func (q *Query) Only(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !slices.Contains(names, name) {
			q.Problems.Add(fmt.Sprintf("%.64q", name), "is not a known parameter")
		}
	}
}

// Text is empty when the parameter is not given.
func (q *Query) Text(name string) string {
	value := q.values.Get(name)
	if len(q.values[name]) > 1 {
		q.Problems.Add(name, "must be given once")
	}
	if !text.IsStorable(value) {
		q.Problems.Add(name, "must be UTF-8 without NUL")
	}
	return value
}

// Number is from 1 to most, and fallback when the parameter is not given.
func (q *Query) Number(name string, most, fallback int) int {
	value := q.Text(name)
	if !q.Has(name) {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		q.Problems.Add(name, "must be a whole number from 1 to %d", most)
	}
	return n
}

// Time is zero when the parameter is not given; see [ParseTime].
func (q *Query) Time(name string) time.Time {
	value := q.Text(name)
	if !q.Has(name) {
		return time.Time{}
	}
	at, ok := ParseTime(value)
	if !ok {
		q.Problems.Add(name, "must be a time in ISO 8601")
	}
	return at
}

// FormTime is Time for the field of a form, which may be left empty.
func (q *Query) FormTime(name string) time.Time {
	if slices.Equal(q.values[name], []string{""}) {
		return time.Time{}
	}
	return q.Time(name)
}

// Date is the beginning of a day in UTC, and zero when the parameter is not given.
func (q *Query) Date(name string) time.Time {
	value := q.Text(name)
	if !q.Has(name) {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1970 {
		q.Problems.Add(name, "must be a date such as 2026-09-01")
	}
	return day
}

// ParseTime reads a time, or a day in UTC, in ISO 8601. Times before 1970 are refused, so
// that no time is zero.
func ParseTime(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	return at, err == nil && at.UTC().Year() >= 1970 && at.UTC().Year() < 10000
}
