package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
)

// RequestFilter selects calls of the request log. Zero fields select everything.
type RequestFilter struct {
	Status     string // "404", or "4xx" for all of a class
	Route      string // the pattern, such as "GET /invoices/{id}"
	Path       string // a part of the path of the pattern
	BusinessID string
	RequestID  string
	Since      time.Time // at or after this
	Until      time.Time // before this
}

// Check returns a validation error that names everything that is wrong.
func (f RequestFilter) Check() error {
	var v apierror.Validation
	if _, _, ok := statusRange(f.Status); !ok {
		v.Add("status", "must be a status such as 404, or a class such as 4xx")
	}
	for _, one := range []struct{ name, value string }{{"route", f.Route}, {"path", f.Path}, {"businessId", f.BusinessID}, {"requestId", f.RequestID}} {
		if !text.IsStorable(one.value) {
			v.Add(one.name, "must be UTF-8 without NUL")
		}
	}
	return v.Err()
}

// Requests lists the last calls of an app, newest first. Its error is one of apierror: 404,
// or everything that is wrong with the filter and the page.
func (c *Console) Requests(ctx context.Context, by Actor, appID string, f RequestFilter, p Page) (Paged[callstore.Request], error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Paged[callstore.Request]{}, err
	}
	return c.AppRequests(ctx, appID, f, p)
}

// AppRequests is [Console.Requests] for an app of any organization. It does not check that the app
// exists.
func (c *Console) AppRequests(ctx context.Context, appID string, f RequestFilter, p Page) (Paged[callstore.Request], error) {
	var v apierror.Validation
	if err := v.Include(f.Check()); err != nil {
		return Paged[callstore.Request]{}, err
	}
	least, most, _ := statusRange(f.Status)
	if p.After != "" && !id.Valid(id.Request, p.After) {
		v.Add("after", "must be the nextCursor of a page")
	}
	if err := v.Err(); err != nil {
		return Paged[callstore.Request]{}, err
	}
	requests, err := c.cfg.Analytics.Requests(ctx, callstore.RequestQuery{
		AppID: appID, MinStatus: least, MaxStatus: most, Route: f.Route, Path: f.Path, BusinessID: f.BusinessID, RequestID: f.RequestID,
		Since: f.Since, Until: f.Until, Before: p.After, Limit: p.limit() + 1,
	})
	return cut(requests, p.limit(), func(r callstore.Request) string { return r.ID }), err
}

// Request returns a call of the request log by its id, or the last one with the id of its
// request. Its error is one of apierror, 404 if there is none.
func (c *Console) Request(ctx context.Context, by Actor, appID, requestID string) (callstore.Request, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return callstore.Request{}, err
	}
	if requestID == "" || !text.IsStorable(requestID) {
		return callstore.Request{}, apierror.NotFound("request")
	}
	for _, q := range []callstore.RequestQuery{{ID: requestID}, {RequestID: requestID}} {
		q.AppID, q.Limit = appID, 1
		found, err := c.cfg.Analytics.Requests(ctx, q)
		if err != nil {
			return callstore.Request{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return callstore.Request{}, apierror.NotFound("request")
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
	Bytes      int64      `json:"bytes"` // of the body of the response
	Error      string     `json:"error,omitempty"`
}

func newRequestPayload(r callstore.Request) requestPayload {
	return requestPayload{
		ID: r.ID, Time: stamp.Of(r.At), Method: r.Method, Route: r.Route, Status: r.Status, Code: r.Code, RequestID: r.RequestID,
		BusinessID: r.BusinessID, DurationMS: float64(r.Took.Microseconds()) / 1000, Bytes: r.Bytes, Error: r.Error,
	}
}

// ParseRequestFilter reads the query of a list of requests, with a validation error of apierror.
func ParseRequestFilter(r *http.Request) (RequestFilter, Page, error) {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	q.Only("status", "route", "path", "businessId", "requestId", "since", "until", "after", "limit")
	f := RequestFilter{
		Status: q.Text("status"), Route: q.Text("route"), Path: q.Text("path"), BusinessID: q.Text("businessId"), RequestID: q.Text("requestId"),
		Since: q.Time("since"), Until: q.Time("until"),
	}
	p := Page{After: q.Text("after"), Limit: q.Number("limit", MaxLimit, DefaultLimit)}
	return f, p, q.Err()
}

// WriteRequests responds with a page of requests, without the bodies of errors.
func WriteRequests(w http.ResponseWriter, requests Paged[callstore.Request]) error {
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(requests.Items, requests.NextCursor, func(r callstore.Request) requestPayload {
		r.Error = ""
		return newRequestPayload(r)
	}))
}

func (c *Console) listRequests(w http.ResponseWriter, r *http.Request, by Actor) error {
	f, p, err := ParseRequestFilter(r)
	if err != nil {
		return err
	}
	requests, err := c.Requests(r.Context(), by, r.PathValue("appId"), f, p)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(requests.Items, requests.NextCursor, newRequestPayload))
}

func (c *Console) serveRequest(w http.ResponseWriter, r *http.Request, by Actor) error {
	request, err := c.Request(r.Context(), by, r.PathValue("appId"), r.PathValue("requestId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newRequestPayload(request))
}
