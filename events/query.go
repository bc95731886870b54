package events

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
)

// How many events a page has.
const (
	maxLimit     = 100
	defaultLimit = 50
)

// query is what GET /events was asked for.
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
		problems.Add("after must be given once")
	}
	if given := values["limit"]; len(given) > 0 {
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 1 || n > maxLimit || len(given) > 1 {
			problems.Add("limit must be given once, a whole number from 1 to %d", maxLimit)
		}
		asked.limit = n
	}
	if given := values["types"]; len(given) > 0 {
		asked.types = strings.Split(strings.Join(given, ","), ",")
		if slices.Contains(asked.types, "") {
			problems.Add("types must be names of events, separated by commas")
		}
	}
	if err := problems.Err(); err != nil {
		return query{}, err
	}
	unknown := slices.DeleteFunc(slices.Clone(asked.types), func(name string) bool {
		_, ok := l.cfg.Catalog.Lookup(name)
		return ok
	})
	if len(unknown) > 0 {
		return query{}, apierror.New(apierror.UnknownEventType, strings.Join(unknown, ", "))
	}
	return asked, nil
}
