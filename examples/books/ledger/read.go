package ledger

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
)

// How many records a page has.
const (
	maxLimit     = 100
	defaultLimit = 50
)

// page is the response of a list.
type page[T any] struct {
	Data       []T    `json:"data"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// get serves one record.
func (t table[T]) get(l *Ledger) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		record, err := t.find(r.Context(), l.cfg.Store, businessOf(r.Context()), r.PathValue("id"), "")
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		return apierror.WriteJSON(w, http.StatusOK, record)
	}
}

// list serves the records of the business, newest first. A cursor is the id where
// the page before ended. It is a place in the order and nothing else: it holds when
// its record is gone, and what is added meanwhile comes before it.
func (t table[T]) list(l *Ledger) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		limit, after, err := parsePage(r.URL.RawQuery, t.kind)
		if err != nil {
			return err
		}
		condition, args := "business_id = $1", []any{businessOf(r.Context()), limit + 1}
		if after != "" {
			condition, args = condition+" AND id < $3", append(args, after)
		}
		found, err := t.where(r.Context(), l.cfg.Store, condition+" ORDER BY id DESC LIMIT $2", args...)
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		response := page[T]{Data: found, HasMore: len(found) > limit}
		if response.HasMore {
			response.Data = found[:limit]
			response.NextCursor = t.idOf(found[limit-1])
		}
		return apierror.WriteJSON(w, http.StatusOK, response)
	}
}

// parsePage reads the parameters limit and after. Others are ignored.
func parsePage(raw string, kind id.Kind) (limit int, after string, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return 0, "", apierror.Invalid("the query is not well-formed")
	}
	var problems apierror.Validation
	limit = defaultLimit
	if given := values["limit"]; len(given) > 0 {
		limit, err = strconv.Atoi(given[0])
		if err != nil || limit < 1 || limit > maxLimit || len(given) > 1 {
			problems.Add("limit", "must be given once, a whole number from 1 to %d", maxLimit)
		}
	}
	if given := values["after"]; len(given) > 0 {
		after = given[0]
		if !id.Valid(kind, after) || len(given) > 1 {
			problems.Add("after", "must be given once, the nextCursor of a page of this list, %s…", kind)
		}
	}
	return limit, after, problems.Err()
}

// businessOf returns the business of the token. Nothing else in the request can change it.
func businessOf(ctx context.Context) string {
	p, _ := identity.PrincipalFrom(ctx)
	return p.BusinessID
}
