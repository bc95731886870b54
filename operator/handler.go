package operator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/internal/text"
)

// route is one call of the operator's API.
type route struct {
	pattern string // below /operator
	handle  func(w http.ResponseWriter, r *http.Request, by Actor) error
}

func (o *Operator) allRoutes() []route {
	return []route{
		{"GET /operator/apps", o.listApps},
		{"GET /operator/apps/{appId}", o.serveApp},
		{"POST /operator/apps/{appId}/status", o.setAppStatus},
		{"GET /operator/apps/{appId}/usage", o.serveUsage},
		{"GET /operator/apps/{appId}/deliveries", o.listDeliveries},
		{"GET /operator/apps/{appId}/requests", o.listRequests},
		{"POST /operator/apps/{appId}/installations/{businessId}/uninstall", o.uninstall},
		{"GET /operator/apps/{appId}/listing", o.serveListing},
		{"POST /operator/apps/{appId}/listing", o.reviewListing},
		{"POST /operator/apps/{appId}/review", o.reviewApp},
		{"GET /operator/reviews", o.listReviews},
		{"GET /operator/users", o.findUsers},
		{"GET /operator/users/{userId}", o.serveUser},
		{"POST /operator/users/{userId}/status", o.setUserStatus},
		{"POST /operator/users/{userId}/erase", o.eraseUser},
		{"POST /operator/businesses/{businessId}/erase", o.eraseBusiness},
		{"GET /operator/trusted-documents", o.listDocuments},
		{"POST /operator/trusted-documents", o.addDocument},
		{"DELETE /operator/trusted-documents/{documentId}", o.deleteDocument},
		{"GET /operator/audit", o.serveAudit},
		{"GET /operator/figures", o.serveFigures},
	}
}

// Patterns returns the patterns of all calls, such as "GET /operator/apps/{appId}".
func (o *Operator) Patterns() []string {
	all := o.allRoutes()
	patterns := make([]string, len(all))
	for i, one := range all {
		patterns[i] = one.pattern
	}
	return patterns
}

// newRoutes serves the calls of operators, and passes all other calls to Config.Otherwise.
func (o *Operator) newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, one := range o.allRoutes() {
		mux.Handle(one.pattern, o.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
			by, err := o.Actor(r)
			if err != nil {
				return err
			}
			return one.handle(w, r, by)
		}))
	}
	known := o.errors.ValidPath(muxes.WithErrors(mux, o.errors.WriteStandard))
	if o.cfg.Limited != nil {
		known = o.cfg.Limited(known)
	}
	return o.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		_, err := o.Actor(r)
		if IsNoOperator(err) && o.cfg.Otherwise != nil {
			o.cfg.Otherwise.ServeHTTP(w, r)
			return nil
		}
		if err != nil {
			return err
		}
		if err := o.csrf.Check(r); err != nil {
			return apierror.Forbidden("This request came from another site")
		}
		w.Header().Set("Cache-Control", "no-store")
		known.ServeHTTP(w, r)
		return nil
	})
}

// ServeHTTP serves the JSON: everything below /operator. Writes must come from a page of
// ours, or from no page.
func (o *Operator) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.routes.ServeHTTP(w, r) }

// query is the query of a call. Parameters that no call has are ignored.
type query struct {
	values   url.Values
	problems apierror.Validation
}

func readQuery(r *http.Request) *query {
	q := &query{}
	var err error
	if q.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		q.problems.Add("", "the query is not well-formed")
	}
	return q
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

func (q *query) page() console.Page {
	p := console.Page{After: q.text("after"), Limit: console.DefaultLimit}
	if limit := q.text("limit"); q.values.Has("limit") {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > console.MaxLimit {
			q.problems.Add("limit", "must be a whole number from 1 to %d", console.MaxLimit)
		}
		p.Limit = n
	}
	return p
}

// time is zero when the parameter is not given.
func (q *query) time(name string) time.Time {
	value := q.text(name)
	if value == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || at.UTC().Year() < 1970 {
		q.problems.Add(name, "must be a time such as 2026-09-01T12:00:00Z")
	}
	return at
}

// ParseAuditFilter reads a filter and a page from the query of a request: actor, action,
// appId, since, until, after and limit. Its error is a validation error of apierror.
func ParseAuditFilter(r *http.Request) (AuditFilter, console.Page, error) {
	q := readQuery(r)
	f := AuditFilter{
		UserID: q.text("actor"), Action: audit.Action(q.text("action")), AppID: q.text("appId"), Since: q.time("since"), Until: q.time("until"),
	}
	page := q.page()
	return f, page, q.problems.Err()
}

// listPage responds with a page of a list.
func listPage[T, P any](w http.ResponseWriter, page console.Paged[T], payload func(T) P) error {
	return apierror.WriteJSON(w, http.StatusOK, struct {
		Data       []P    `json:"data"`
		HasMore    bool   `json:"hasMore"`
		NextCursor string `json:"nextCursor,omitempty"`
	}{convert(page.Items, payload), page.NextCursor != "", page.NextCursor})
}

// convert makes one thing of each of many; never nil, so that it marshals as a list.
func convert[T, P any](items []T, payload func(T) P) []P {
	all := make([]P, 0, len(items))
	for item := range slices.Values(items) {
		all = append(all, payload(item))
	}
	return all
}
