package console

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
)

// readBody reads the body of a call.
func readBody(r *http.Request, into any) error {
	return apierror.DecodeJSON(r, into, apierror.JSONLimits{})
}

// readBodyWith reads a body in which one array has a bound of its own.
func readBodyWith(name string, bound apierror.List, r *http.Request, into any) error {
	return apierror.DecodeJSON(r, into, apierror.JSONLimits{Lists: map[string]apierror.List{name: bound}})
}

// readNothing is for calls that take no members: without a body, or with {}. A body
// whose length is not announced may turn out to be none.
func readNothing(r *http.Request) error {
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); errors.Is(err, io.EOF) {
		return nil
	}
	again := *r
	again.Body = io.NopCloser(body)
	return readBody(&again, &struct{}{})
}

// query is the query of a call. Parameters that nobody asks for are ignored.
type query struct {
	values   url.Values
	problems apierror.Validation
}

func readQuery(r *http.Request) *query {
	q := &query{}
	var err error
	if q.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		q.problems.Add("the query is not well-formed")
	}
	return q
}

// text is empty when the parameter is not given.
func (q *query) text(name string) string {
	value := q.values.Get(name)
	if len(q.values[name]) > 1 {
		q.problems.Add("%s must be given once", name)
	}
	if !text.IsStorable(value) {
		q.problems.Add("%s must be UTF-8 without NUL", name)
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
		q.problems.Add("%s must be a whole number from 1 to %d", name, most)
	}
	return n
}

// readPage reads limit and after.
func readPage(r *http.Request) (Page, error) {
	q := readQuery(r)
	p := Page{After: q.text("after"), Limit: q.number("limit", MaxLimit, DefaultLimit)}
	return p, q.problems.Err()
}
