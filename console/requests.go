package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
)

// RequestFilter selects calls of the request log. Zero fields select everything.
type RequestFilter struct {
	Status     string // "404", or "4xx" for all of a class
	Route      string // the pattern, such as "GET /invoices/{id}"
	BusinessID string
}

// Requests lists the last calls of an app, newest first. Its error is one of apierror: 404,
// or everything that is wrong with the filter and the page.
func (c *Console) Requests(ctx context.Context, by Actor, appID string, f RequestFilter, p Page) (Paged[analytics.Request], error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Paged[analytics.Request]{}, err
	}
	var v apierror.Validation
	least, most, ok := statusRange(f.Status)
	if !ok {
		v.Add("status must be a status such as 404, or a class such as 4xx")
	}
	if !text.IsStorable(f.Route) || !text.IsStorable(f.BusinessID) {
		v.Add("route and businessId must be UTF-8 without NUL")
	}
	if p.After != "" && !id.Valid(id.Request, p.After) {
		v.Add("after must be the nextCursor of a page")
	}
	if err := v.Err(); err != nil {
		return Paged[analytics.Request]{}, err
	}
	requests, err := c.cfg.Analytics.Requests(ctx, analytics.RequestQuery{
		AppID: appID, MinStatus: least, MaxStatus: most, Route: f.Route, BusinessID: f.BusinessID, Before: p.After, Limit: p.limit() + 1,
	})
	return cut(requests, p.limit(), func(r analytics.Request) string { return r.ID }), err
}

// statusRange reads a status or a class of statuses; zeros for an empty text.
func statusRange(status string) (least, most int, ok bool) {
	if status == "" {
		return 0, 0, true
	}
	if class, isClass := strings.CutSuffix(status, "xx"); isClass {
		n, err := strconv.Atoi(class)
		return n * 100, n*100 + 99, err == nil && n >= 1 && n <= 5
	}
	n, err := strconv.Atoi(status)
	return n, n, err == nil && n >= 100 && n <= 599 && len(status) == 3
}

type requestPayload struct {
	ID         string     `json:"id"`
	Time       stamp.Time `json:"time"`
	Method     string     `json:"method"`
	Route      string     `json:"route"` // empty: no route serves it
	Status     int        `json:"status"`
	Code       string     `json:"code,omitempty"`
	RequestID  string     `json:"requestId"`
	BusinessID string     `json:"businessId"`
	DurationMS float64    `json:"durationMs"`
	Error      string     `json:"error,omitempty"`
}

func newRequestPayload(r analytics.Request) requestPayload {
	return requestPayload{
		ID: r.ID, Time: stamp.Of(r.At), Method: r.Method, Route: r.Route, Status: r.Status, Code: r.Code, RequestID: r.RequestID,
		BusinessID: r.BusinessID, DurationMS: float64(r.Took.Microseconds()) / 1000, Error: r.Error,
	}
}

func (c *Console) listRequests(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := readQuery(r)
	f := RequestFilter{Status: q.text("status"), Route: q.text("route"), BusinessID: q.text("businessId")}
	p := Page{After: q.text("after"), Limit: q.number("limit", MaxLimit, DefaultLimit)}
	if err := q.problems.Err(); err != nil {
		return err
	}
	requests, err := c.Requests(r.Context(), by, r.PathValue("appId"), f, p)
	if err != nil {
		return err
	}
	return listPage(w, requests, newRequestPayload)
}
