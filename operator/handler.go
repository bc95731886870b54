package operator

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/muxes"
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

// readPage reads limit and after.
func readPage(q *jsonapi.Query) console.Page {
	return console.Page{After: q.Text("after"), Limit: q.Number("limit", console.MaxLimit, console.DefaultLimit)}
}

// ParseAuditFilter reads a filter and a page from the query of a request: actor, action,
// appId, since, until, after and limit. Its error is a validation error of apierror.
func ParseAuditFilter(r *http.Request) (AuditFilter, console.Page, error) {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	f := AuditFilter{
		UserID: q.Text("actor"), Action: audit.Action(q.Text("action")), AppID: q.Text("appId"), Since: q.FormTime("since"), Until: q.FormTime("until"),
	}
	page := readPage(q)
	return f, page, q.Err()
}
