package oauthserver

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/text"
)

const (
	maxParameters   = 100
	maxClientID     = 512
	maxState        = 4 << 10 // bytes, before percent-encoding
	malformedEncode = "is not valid percent-encoded UTF-8"
)

// parameter is one that the query has.
type parameter struct {
	value     string   // decoded; of several the first
	raw       string   // as it stands in the query
	values    []string // decoded, all of them
	malformed bool     // the percent-encoding, of any of them
}

// authorizeQuery is the query of an authorization request, read without judging
// it: which problem is shown depends on who asks.
type authorizeQuery map[string]*parameter

// parseAuthorizeQuery splits a raw query. It differs from url.ParseQuery in that
// it forgets nothing: not how a value was encoded, not one that cannot be
// decoded, and none with a semicolon, which separates nothing today. problem is
// what is wrong with the query as a whole, to be shown when client_id and
// redirect_uri are right.
func parseAuthorizeQuery(raw string) (query authorizeQuery, problem error) {
	query = authorizeQuery{}
	count := 0
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		if count++; count > maxParameters {
			return query, invalid("query", "has too many parameters")
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			problem = invalid("query", "has a parameter whose name "+malformedEncode)
			continue
		}
		query.add(name, rawValue)
	}
	return query, problem
}

func (q authorizeQuery) add(name, raw string) {
	value, err := url.QueryUnescape(raw)
	p := q[name]
	if p == nil {
		p = &parameter{value: value, raw: raw}
		q[name] = p
	}
	p.values = append(p.values, value)
	p.malformed = p.malformed || err != nil
}

// one returns the value of a parameter that may come once, as text; empty when it
// was not sent, which by RFC 6749 section 3.1 is the same as sent empty.
func (q authorizeQuery) one(name string) (string, error) {
	p := q[name]
	switch {
	case p == nil:
		return "", nil
	case len(p.values) > 1:
		return "", repeatedParameter(name)
	case p.malformed || !text.IsStorable(p.value):
		return "", invalid(name, malformedEncode)
	}
	return p.value, nil
}

// all returns every value of a parameter.
func (q authorizeQuery) all(name string) []string {
	if p := q[name]; p != nil {
		return p.values
	}
	return nil
}

// state returns the state as it stands in the query, still percent-encoded: an
// app gets back what it sent, whether it reads + as a space or not. It is nil
// when there was none, or an empty one, which is the same (RFC 6749 section 3.1).
func (q authorizeQuery) state() ([]byte, error) {
	p := q["state"]
	switch {
	case p == nil, p.raw == "" && len(p.values) == 1:
		return nil, nil
	case len(p.values) > 1:
		return nil, repeatedParameter("state")
	case p.malformed:
		return nil, invalid("state", "is not valid percent-encoding")
	case len(p.value) > maxState:
		return nil, invalid("state", fmt.Sprintf("is longer than %d bytes", maxState))
	}
	return []byte(p.raw), nil
}

// repeated names a parameter that was sent more than once, also one that means
// nothing here (RFC 6749 section 3.1); resource has a rule of its own.
func (q authorizeQuery) repeated() error {
	for name, p := range q {
		if len(p.values) < 2 || name == "resource" {
			continue
		}
		return repeatedParameter(name)
	}
	return nil
}

// repeatedParameter names one that came twice, unless its name is nothing to show.
func repeatedParameter(name string) error {
	if name == "" || len(name) > 64 || !text.IsVisible(name) {
		name = "a parameter"
	}
	return invalid(name, "was sent more than once")
}
