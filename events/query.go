package events

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// How many events a page has.
const (
	maxLimit     = 100
	defaultLimit = 50
)

// maxTypes is how many names the parameter types may have, repeated ones included.
const maxTypes = 1000

// query holds the parameters of GET /events.
type query struct {
	after    string
	hasAfter bool
	types    []string // nil: all
	limit    int
}

// parseQuery reads the parameters after, types and limit. Others are ignored.
func (l *Log) parseQuery(raw string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, apierror.Invalid("the query is not well-formed")
	}
	var problems apierror.Validation
	asked := query{after: values.Get("after"), hasAfter: values.Has("after"), limit: defaultLimit}
	if len(values["after"]) > 1 {
		problems.Add("after", "must be given once")
	}
	if given := values["limit"]; len(given) > 0 {
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 1 || n > maxLimit || len(given) > 1 {
			problems.Add("limit", "must be given once, a whole number from 1 to %d", maxLimit)
		}
		asked.limit = n
	}
	unknown := l.parseTypes(values["types"], &asked, &problems)
	if err := problems.Err(); err != nil {
		return query{}, err
	}
	if len(unknown) > 0 {
		return query{}, codes.UnknownEventType.New(strings.Join(unknown, ", "))
	}
	return asked, nil
}

// parseTypes reads lists of names, which are separated by commas, and returns those that
// are not in the catalog. It reads at most [maxTypes] names.
func (l *Log) parseTypes(lists []string, asked *query, problems *apierror.Validation) (unknown []string) {
	names := 0
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if names++; names > maxTypes {
				problems.Add("types", "must have at most %d names", maxTypes)
				return unknown
			}
			if name == "" {
				problems.Add("types", "must be names of events, separated by commas")
				return nil
			}
			if _, ok := l.cfg.Catalog.Lookup(name); !ok {
				unknown = append(unknown, name)
			}
			asked.types = append(asked.types, name)
		}
	}
	return unknown
}
