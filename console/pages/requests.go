package pages

import (
	"net/http"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func requestRoutes() []route {
	return []route{{"GET", "/apps/{appId}/requests", (*visit).showRequests}}
}

const requestsTitle = "Requests"

type requestsView struct {
	AppID      string
	Filter     console.RequestFilter
	IsFiltered bool
	Form       filled // the filter, if it makes no sense
	Requests   []requestRow
	Pager      look.Pager
}

type requestRow struct {
	analytics.Request
	Badge look.Badge
}

// Statuses returns the classes that the filter offers.
func (requestsView) Statuses() []string { return []string{"2xx", "3xx", "4xx", "5xx"} }

// showRequests lists the last calls of the app, filtered by the query.
func (v *visit) showRequests() error {
	q := v.r.URL.Query()
	data := requestsView{AppID: v.app.ID, Filter: console.RequestFilter{Status: q.Get("status"), Route: q.Get("route"), BusinessID: q.Get("business")}}
	data.IsFiltered = data.Filter != console.RequestFilter{}
	page, err := v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, data.Filter, console.Page{After: q.Get("after")})
	if site.IsStatus(err, http.StatusBadRequest) {
		data.Form = v.mend(err, apierror.Form(q), formFields{{Name: "status", Label: "Status"}})
		return v.again(err, "requests", requestsTitle, data)
	}
	if err != nil {
		return err
	}
	for _, one := range page.Items {
		data.Requests = append(data.Requests, requestRow{one, statusBadge(one.Status)})
	}
	data.Pager = v.site.Pager(path("apps", v.app.ID, "requests"), q, page.NextCursor)
	return v.show("requests", requestsTitle, data)
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
