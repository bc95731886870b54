package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/internal/text"
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
	{Name: "path", Label: "Path"},
	{Name: "businessId", Label: "Business id"},
	{Name: "requestId", Label: "Request id"},
	{Name: "since", Label: "Since"},
	{Name: "until", Label: "Until"},
}

// requestChips say how the fields of the filter are entered.
var requestChips = map[string]look.Chip{
	"status":     {Hint: "A status such as 404, or a class such as 4xx.", List: "statuses", Example: "4xx"},
	"route":      {Hint: "A method with a whole pattern.", Example: "GET /invoices/{id}"},
	"path":       {Hint: "A part of the pattern of the path.", Example: "/invoices"},
	"businessId": {}, "requestId": {},
	"since": {Kind: "moment"}, "until": {Kind: "moment"},
}

type requestsView struct {
	AppID      string
	Filter     look.Chips
	IsFiltered bool
	Requests   []requestRow
	Pager      look.Pager
	Live       string // the address that the list is asked for again; empty: it does not change
	Exports    []look.Link
}

type requestRow struct {
	callstore.Request
	Badge    look.Badge
	Business look.Named
	Path     string // of the route; empty: there is no such endpoint
	Reason   string // of the error, in a few words
}

func newRequestRow(r callstore.Request) requestRow {
	path := r.Route
	if _, after, ok := strings.Cut(r.Route, " "); ok {
		path = after
	}
	return requestRow{Request: r, Badge: statusBadge(r.Status), Path: path, Reason: reasonOf(r)}
}

// maxReason bounds the reason of an error in a list.
const maxReason = 200

// reasonOf returns why a call was refused, in the words of its response.
func reasonOf(r callstore.Request) string {
	var body struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.Error), &body) // another shape has none of these
	return text.Clip(asText([]byte(cmp.Or(body.Error.Message, body.Message, r.Code, r.Error))), maxReason)
}

// requestRows returns calls with the names of their businesses.
func (v *visit) requestRows(all []callstore.Request) ([]requestRow, error) {
	names, err := v.named(idsOf(all, func(r callstore.Request) string { return r.BusinessID }))
	rows := make([]requestRow, 0, len(all))
	for _, one := range all {
		row := newRequestRow(one)
		row.Business = names[one.BusinessID]
		rows = append(rows, row)
	}
	return rows, err
}

// Statuses returns the classes that the filter offers.
func (requestsView) Statuses() []string { return []string{"2xx", "3xx", "4xx", "5xx"} }

// showRequests lists the last calls of the app, filtered by the query.
func (v *visit) showRequests() error {
	q := v.r.URL.Query()
	filter, err := readRequestFilter(q)
	var page console.Paged[callstore.Request]
	if err == nil {
		page, err = v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, filter, console.Page{After: q.Get("after")})
	}
	if err != nil && !site.IsStatus(err, http.StatusBadRequest) {
		return err
	}
	data := requestsView{AppID: v.app.ID, IsFiltered: filter != console.RequestFilter{}}
	marked := v.mend(err, bodies.Form(q), requestFields)
	var chips []look.Chip
	entered := url.Values{}
	for _, one := range requestFields {
		chip := requestChips[one.Name]
		chip.Name, chip.Label, chip.Value = one.Name, one.Label, trimmed(q, one.Name)
		if problem := marked.Problem(one.Name); problem.Text != "" {
			chip.Problem, chip.IsFirst = problem.Text, problem.IsFirst
		} else if at := (map[string]time.Time{"since": filter.Since, "until": filter.Until}[one.Name]); !at.IsZero() {
			chip.Value = asMoment(at)
		}
		chips, entered[one.Name] = append(chips, chip), []string{chip.Value}
	}
	data.Filter = v.withClear(path("apps", v.app.ID, "requests"), entered, chips)
	if err != nil {
		return v.again(err, "requests", requestsTitle, data)
	}
	if data.Requests, err = v.requestRows(page.Items); err != nil {
		return err
	}
	data.Pager = v.site.Pager(path("apps", v.app.ID, "requests"), q, page.NextCursor)
	if q.Get("after") == "" && filter.Until.IsZero() {
		data.Live = v.site.ListAt(path("apps", v.app.ID, "requests"), entered, "")
	}
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
	Advice  advice
	Self    string // the permalink
}

// showRequest shows one call of the log.
func (v *visit) showRequest() error {
	request, err := v.cfg.Console.Request(v.r.Context(), v.by, v.app.ID, v.r.PathValue("requestId"))
	if err != nil {
		return err
	}
	rows, err := v.requestRows([]callstore.Request{request})
	if err != nil {
		return err
	}
	_, own := v.cfg.Console.Origins()
	v.heading = strings.TrimSpace(request.Method + " " + rows[0].Path)
	return v.show("request", requestTitle, requestView{
		AppID: v.app.ID, Request: rows[0], Body: colored([]byte(request.Error)), Advice: v.adviceFor(request),
		Self: own + v.site.Href("apps", v.app.ID, "requests", request.ID),
	})
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

// advice is what a developer can do about a call that failed.
type advice struct {
	Text string
	Code string // a scope, a permission or another name, behind the text; empty: none
	Path string // of the page where it is done, below the app's own; empty: none
	Link string // the text of the link to Path
}

// adviceFor returns the advice for a call; the zero value for one that succeeded.
func (v *visit) adviceFor(r callstore.Request) advice {
	var body struct {
		Params map[string]string `json:"params"`
	}
	_ = json.Unmarshal([]byte(r.Error), &body) // a body of another shape has no parameters
	what := body.Params["p0"]
	switch {
	case r.Status < http.StatusBadRequest:
		return advice{}
	case r.Code == string(codes.InsufficientScope.Code) && what != "":
		if slices.Contains(v.app.Scopes.Names(), what) {
			return advice{"The app has this scope, but the business did not grant it, or the token was issued before. Send the person to the consent page again and ask for", what, "/installations", "See what each business granted"}
		}
		return advice{"Add this scope to the app, and ask for a new authorization with it. The call needs", what, "/settings", "Add the scope"}
	case r.Code == string(codes.PermissionRequired.Code):
		return advice{"The person who connected the app lacks a permission in the business, which an owner can give. The call needs", what, "", ""}
	case r.Code == string(codes.EndpointNotExposed.Code), r.Status == http.StatusNotFound && r.Route == "":
		return advice{"Check the method and the path: no route for apps serves them.", "", "", ""}
	case r.Status == http.StatusUnauthorized:
		return advice{"The token has expired or was revoked, or access has ended. Refresh it. If that fails with invalid_grant, ask for a new authorization.", "", "/installations", "See who has connected the app"}
	case r.Status == http.StatusTooManyRequests:
		return advice{"The app made too many calls. Wait as long as the header Retry-After says, and spread calls over time.", "", "/limits", "See the limits"}
	case r.Status == http.StatusNotFound:
		return advice{"The business has no record with the id of the path, or it was deleted.", "", "", ""}
	case r.Status == http.StatusConflict:
		return advice{"Something else was first. Read the record again and decide again; repeat the call only with the same Idempotency-Key.", "", "", ""}
	case r.Status == http.StatusBadRequest, r.Status == http.StatusUnprocessableEntity:
		return advice{"Correct what the message of the error names. Repeating the same call fails again.", "", "", ""}
	case r.Status >= http.StatusInternalServerError:
		return advice{"The service failed, not the app. Repeat the call later, a write with the same Idempotency-Key. If you report it, name the request id", r.RequestID, "", ""}
	}
	return advice{"The message of the error says why the call was refused.", "", "", ""}
}
