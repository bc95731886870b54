package console

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/strictjson"
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

// readPage reads limit and after.
func readPage(r *http.Request) (Page, error) {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	p := Page{After: q.Text("after"), Limit: q.Number("limit", MaxLimit, DefaultLimit)}
	return p, q.Err()
}
