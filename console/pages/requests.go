package pages

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func requestRoutes() []route {
	return []route{
		{"GET", "/apps/{appId}/requests", (*visit).showRequests},
		{"GET", "/apps/{appId}/requests/{requestId}", (*visit).showRequest},
	}
}

const (
	requestsTitle = "Requests"
	requestTitle  = "Request"
)

// requestFields are the fields of the filter. Their names are those of the JSON API.
var requestFields = formFields{
	{Name: "status", Label: "Status"},
	{Name: "route", Label: "Route"},
	{Name: "path", Label: "Part of the path"},
	{Name: "businessId", Label: "Business id"},
	{Name: "requestId", Label: "Request id"},
	{Name: "since", Label: "Since"},
	{Name: "until", Label: "Until"},
}

type requestsView struct {
	AppID      string
	Fields     map[string]field // of the filter
	IsFiltered bool
	Requests   []requestRow
	Pager      look.Pager
	Exports    []look.Link
}

type requestRow struct {
	analytics.Request
	Badge look.Badge
	Text  string // of the error
}

func newRequestRow(r analytics.Request) requestRow {
	return requestRow{r, statusBadge(r.Status), asText([]byte(r.Error))}
}

// Statuses returns the classes that the filter offers.
func (requestsView) Statuses() []string { return []string{"2xx", "3xx", "4xx", "5xx"} }

// showRequests lists the last calls of the app, filtered by the query.
func (v *visit) showRequests() error {
	q := v.r.URL.Query()
	filter, err := readRequestFilter(q)
	var page console.Paged[analytics.Request]
	if err == nil {
		page, err = v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, filter, console.Page{After: q.Get("after")})
	}
	if err != nil && !site.IsStatus(err, http.StatusBadRequest) {
		return err
	}
	data := requestsView{AppID: v.app.ID, Fields: make(map[string]field), IsFiltered: filter != console.RequestFilter{}}
	marked := v.mend(err, bodies.Form(q), requestFields)
	for _, one := range requestFields {
		entered := entry{Value: trimmed(q, one.Name)}
		if problem := marked.Problem(one.Name); problem.Text != "" {
			entered.Problem, entered.IsFirst = problem.Text, problem.IsFirst
		} else if at := (map[string]time.Time{"since": filter.Since, "until": filter.Until}[one.Name]); !at.IsZero() {
			entered.Value = asMoment(at)
		}
		data.Fields[one.Name] = field{ID: one.Name, Name: one.Name, Label: one.Label, Entry: entered}
	}
	if err != nil {
		return v.again(err, "requests", requestsTitle, data)
	}
	for _, one := range page.Items {
		data.Requests = append(data.Requests, newRequestRow(one))
	}
	data.Pager = v.site.Pager(path("apps", v.app.ID, "requests"), q, page.NextCursor)
	data.Exports = v.exportLinks(path("apps", v.app.ID, "requests"), q)
	return v.show("requests", requestsTitle, data)
}

// readRequestFilter reads the filter of an address. An empty field filters nothing. As in the
// JSON API an unknown parameter is rejected: ignoring a filter would list the wrong calls.
func readRequestFilter(q url.Values) (console.RequestFilter, error) {
	var problems apierror.Validation
	for _, name := range slices.Sorted(maps.Keys(q)) {
		isField := slices.ContainsFunc(requestFields, func(f formField) bool { return f.Name == name })
		switch {
		case !isField && name != "after":
			problems.Add(fmt.Sprintf("%.64q", name), "is not a known parameter")
		case len(q[name]) > 1:
			problems.Add(name, "must be given once")
		}
	}
	moment := func(name string) time.Time {
		entered, at := readMoment(q, name)
		if entered.Problem != "" {
			problems.Add(name, "must be a date and a time in UTC, such as 2026-09-01 12:00")
		}
		return at
	}
	f := console.RequestFilter{
		Status: trimmed(q, "status"), Route: trimmed(q, "route"), Path: trimmed(q, "path"), BusinessID: trimmed(q, "businessId"), RequestID: trimmed(q, "requestId"),
		Since: moment("since"), Until: moment("until"),
	}
	if err := problems.Include(f.Check()); err != nil {
		return f, err
	}
	return f, problems.Err()
}

type requestView struct {
	AppID   string
	Request requestRow
	Body    []piece // of the error, indented and coloured
}

// showRequest shows one call of the log.
func (v *visit) showRequest() error {
	request, err := v.cfg.Console.Request(v.r.Context(), v.by, v.app.ID, v.r.PathValue("requestId"))
	if err != nil {
		return err
	}
	return v.show("request", requestTitle, requestView{AppID: v.app.ID, Request: newRequestRow(request), Body: colored([]byte(request.Error))})
}

// statusBadge returns the status of a response.
func statusBadge(status int) look.Badge {
	badge := look.Badge{Kind: "ok", Text: http.StatusText(status)}
	switch {
	case status >= http.StatusInternalServerError:
		badge.Kind = "bad"
	case status >= http.StatusBadRequest:
		badge.Kind = "warn"
	}
	return badge
}
