package consent

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
)

const (
	maxParameters   = 100
	maxClientID     = 512
	maxQuery        = 8 << 10 // bytes, as received
	maxState        = 4 << 10 // bytes, before percent-encoding
	malformedEncode = "is not valid percent-encoded UTF-8"
)

// parameter is a parameter of the query.
type parameter struct {
	value     string   // decoded; of several the first
	raw       string   // as it stands in the query
	values    []string // decoded, all of them
	malformed bool     // the percent-encoding, of any of them
}

// authorizeQuery is the query of an authorization request before it is checked. Which problem
// is shown depends on client_id and redirect_uri.
type authorizeQuery map[string]*parameter

// parseAuthorizeQuery splits a raw query. Unlike url.ParseQuery it keeps the encoded form of
// values, values that cannot be decoded, and values with a semicolon. problem is what is wrong
// with the query as a whole. It is shown if client_id and redirect_uri are right.
func parseAuthorizeQuery(raw string) (query authorizeQuery, problem error) {
	query = authorizeQuery{}
	if len(raw) > maxQuery {
		problem = invalid("query", fmt.Sprintf("is longer than %d bytes", maxQuery))
	}
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

// one returns the value of a parameter that may be sent once; empty if it was not sent, which
// by RFC 6749 section 3.1 equals a parameter that was sent empty.
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

// state returns the state in its shortest form that gives the app the same bytes that it sent,
// percent-encoding included. It is nil if there is none or it is empty (RFC 6749 section 3.1).
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
	return uri.ShortenState(p.raw), nil
}

// repeated returns an error if any parameter, known or unknown, was sent more than once (RFC
// 6749 section 3.1). resource has a rule of its own.
func (q authorizeQuery) repeated() error {
	for name, p := range q {
		if len(p.values) < 2 || name == "resource" {
			continue
		}
		return repeatedParameter(name)
	}
	return nil
}

// repeatedParameter is the error for a parameter that was sent more than once. It has the name
// of the parameter if that can be shown.
func repeatedParameter(name string) error {
	if name == "" || len(name) > 64 || !text.IsVisible(name) {
		name = "a parameter"
	}
	return invalid(name, "was sent more than once")
}
