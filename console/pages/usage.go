package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/export"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func usageRoutes() []route {
	routes := []route{{"GET", "/apps/{appId}/usage", (*visit).showUsage}}
	for _, format := range export.Formats() {
		routes = append(routes, route{"GET", "/apps/{appId}/usage." + string(format), func(v *visit) error { return v.exportUsage(format) }})
	}
	return routes
}

type usageView struct {
	AppID    string
	From, To entry
	Rows     []callstore.Usage
	Exports  []look.Link
	MaxDays  int
	Pager    look.Pager
}

const usageTitle = "Usage"

// showUsage shows what the app used, by day and business.
func (v *visit) showUsage() error {
	q := v.r.URL.Query()
	data := usageView{AppID: v.app.ID, MaxDays: analytics.MaxDays}
	period := v.readPeriod(q, &data)
	if data.From.Problem != "" || data.To.Problem != "" {
		focusFirst(&data.From, &data.To)
		return v.site.Show(v.w, http.StatusBadRequest, "usage", look.Page{Frame: v.frame(usageTitle), Data: data})
	}
	usage, err := v.cfg.Console.AppUsage(v.r.Context(), v.app, period, console.Page{After: q.Get("after")})
	if site.IsStatus(err, http.StatusBadRequest) && q.Get("after") == "" {
		data.From.Problem, data.From.IsFirst = "Choose a period of at most 400 days that ends after it begins.", true
		return v.site.Show(v.w, http.StatusBadRequest, "usage", look.Page{Frame: v.frame(usageTitle), Data: data})
	}
	if err != nil {
		return err
	}
	data.Rows = usage.Items
	own, days := path("apps", v.app.ID, "usage"), url.Values{"from": {data.From.Value}, "to": {data.To.Value}}
	data.Exports = v.exportLinks(own, days)
	if after := q.Get("after"); after != "" {
		days.Set("after", after)
	}
	data.Pager = v.site.Pager(own, days, usage.NextCursor)
	return v.show("usage", usageTitle, data)
}

// readDay reads a day.
func readDay(q url.Values, name string) entry {
	e := entry{Value: trimmed(q, name)}
	if e.Value == "" {
		return e
	}
	if day, err := time.Parse(time.DateOnly, e.Value); err != nil || day.Year() < 1970 {
		e.Problem = "Enter a date such as 2026-09-01."
	}
	return e
}

// readPeriod reads the period of an address; an empty field is its default.
func (v *visit) readPeriod(q url.Values, data *usageView) console.UsagePeriod {
	data.From, data.To = readDay(q, "from"), readDay(q, "to")
	first, _ := time.Parse(time.DateOnly, data.From.Value)
	last, _ := time.Parse(time.DateOnly, data.To.Value)
	period := console.UsagePeriod{From: first, To: last}.Within(v.cfg.Clock.Now())
	if data.From.Value == "" {
		data.From.Value = period.From.UTC().Format(time.DateOnly)
	}
	if data.To.Value == "" {
		data.To.Value = period.To.UTC().Format(time.DateOnly)
	}
	return period
}

// exportUsage responds with a file.
func (v *visit) exportUsage(format export.Format) error {
	var data usageView
	period := v.readPeriod(v.r.URL.Query(), &data)
	if data.From.Problem != "" || data.To.Problem != "" {
		return v.showUsage()
	}
	return v.cfg.Console.ExportUsage(v.w, v.r, v.app, period, string(format))
}

func limitRoutes() []route {
	return []route{{"GET", "/apps/{appId}/limits", (*visit).showLimits}}
}

type limitsView struct {
	AppID      string
	BusinessID string     // whose limits are shown; empty: those of the busiest businesses
	Business   look.Named // the same, with its name
	Own        []limitRow // of the whole app
	Businesses []limitRow // most used first
}

type limitRow struct {
	console.LimitUse
	What     string
	Business look.Named
}

// windowed adds the length of a window that is not a minute.
func windowed(what string, use console.LimitUse) string {
	switch {
	case use.Window == time.Minute:
		return what
	case use.Window < time.Minute:
		return what + " in " + use.Window.String()
	}
	return what + " in " + span(use.Window)
}

// IsNear reports that less than a tenth is left.
func (l limitRow) IsNear() bool { return l.Used*10 > l.Limit*9 }

// showLimits shows how much of each limit is used.
func (v *visit) showLimits() error {
	data := limitsView{AppID: v.app.ID, BusinessID: v.r.URL.Query().Get("business")}
	uses, err := v.cfg.Console.LimitUses(v.r.Context(), v.by, v.app.ID, data.BusinessID)
	if err != nil {
		return err
	}
	for _, use := range uses {
		switch use.Name {
		case console.LimitApp:
			data.Own = append(data.Own, limitRow{LimitUse: use, What: windowed("Calls for all businesses", use)})
		case console.LimitToken:
			data.Own = append(data.Own, limitRow{LimitUse: use, What: windowed("Token requests", use)})
		case console.LimitBusiness:
			data.Businesses = append(data.Businesses, limitRow{LimitUse: use, What: windowed("All calls", use)})
		case console.LimitRoute:
			data.Businesses = append(data.Businesses, limitRow{LimitUse: use, What: windowed(use.Route, use)})
		}
	}
	slices.SortStableFunc(data.Businesses, func(a, b limitRow) int { return cmp.Compare(b.Used*a.Limit, a.Used*b.Limit) })
	names, err := v.named(append(idsOf(data.Businesses, func(l limitRow) string { return l.BusinessID }), data.BusinessID))
	if err != nil {
		return err
	}
	for i := range data.Businesses {
		data.Businesses[i].Business = names[data.Businesses[i].BusinessID]
	}
	data.Business = names[data.BusinessID]
	return v.show("limits", "Limits", data)
}
