package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/internal/text"
)

// readBody reads the body of a call. check names what else is wrong with a body that does
// not fit; see strictjson.Limits.
func readBody(r *http.Request, into any, check func() error) error {
	return strictjson.Decode(r, into, strictjson.Limits{Check: check})
}

// readBodyWith reads a body in which one array has a bound of its own.
func readBodyWith(name string, bound strictjson.List, r *http.Request, into any, check func() error) error {
	return strictjson.Decode(r, into, strictjson.Limits{Lists: map[string]strictjson.List{name: bound}, Check: check})
}

// readNothing is for calls that take no members: without a body, or with {}.
func readNothing(r *http.Request) error { return readOptional(r, &struct{}{}) }

// readOptional reads a body that may be missing. A body whose length is not announced may
// turn out to be none.
func readOptional(r *http.Request, into any) error {
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); errors.Is(err, io.EOF) {
		return nil
	}
	again := *r
	again.Body = io.NopCloser(body)
	return readBody(&again, into, nil)
}

// query is the query of a call. Parameters that the call does not read are ignored.
type query struct {
	values   url.Values
	problems apierror.Validation
}

func readQuery(r *http.Request) *query { return newQuery(r.URL.RawQuery) }

func newQuery(raw string) *query {
	q := &query{}
	var err error
	if q.values, err = url.ParseQuery(raw); err != nil {
		q.problems.Add("", "the query is not well-formed")
	}
	return q
}

// only refuses all other parameters.
func (q *query) only(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !slices.Contains(names, name) {
			q.problems.Add(fmt.Sprintf("%.64q", name), "is not a known parameter")
		}
	}
}

// time is zero when the parameter is not given.
func (q *query) time(name string) time.Time {
	text := q.text(name)
	if !q.values.Has(name) {
		return time.Time{}
	}
	at, ok := parseTime(text)
	if !ok {
		q.problems.Add(name, "must be a time in ISO 8601")
	}
	return at
}

// parseTime reads a time, or a day in UTC, in ISO 8601. Times before 1970 are refused, so
// that no time is zero.
func parseTime(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	return at, err == nil && at.UTC().Year() >= 1970 && at.UTC().Year() < 10000
}

// text is empty when the parameter is not given.
func (q *query) text(name string) string {
	value := q.values.Get(name)
	if len(q.values[name]) > 1 {
		q.problems.Add(name, "must be given once")
	}
	if !text.IsStorable(value) {
		q.problems.Add(name, "must be UTF-8 without NUL")
	}
	return value
}

// number is from 1 to most, and fallback when the parameter is not given.
func (q *query) number(name string, most, fallback int) int {
	text := q.text(name)
	if !q.values.Has(name) {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		q.problems.Add(name, "must be a whole number from 1 to %d", most)
	}
	return n
}

// readPage reads limit and after.
func readPage(r *http.Request) (Page, error) {
	q := readQuery(r)
	p := Page{After: q.text("after"), Limit: q.number("limit", MaxLimit, DefaultLimit)}
	return p, q.problems.Err()
}

// date is zero when the parameter is not given.
func (q *query) date(name string) time.Time {
	value := q.text(name)
	if !q.values.Has(name) {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1970 {
		q.problems.Add(name, "must be a date such as 2026-09-01")
	}
	return day
}
