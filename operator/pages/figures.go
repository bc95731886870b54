package pages

import (
	"fmt"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func figureRoutes() []route { return []route{{"GET ", (*visit).showFigures}} }

type figuresView struct {
	Day     []figure // what happened in the last 24 hours
	Now     []figure // what there is
	Charts  []look.Chart
	Table   webhooksTable
	Reviews []reviewRow // those that wait longest
}

// figure is a number and what it means; Path is where its details are, empty: nowhere.
type figure struct{ Name, Value, Share, Path string }

// fewReviews is how many reviews the dashboard lists.
const fewReviews = 5

// webhooksTable is a table of webhooks: of one app, or with the app of each.
type webhooksTable struct {
	Webhooks []webhookRow
	IsOfOne  bool
}

// webhookRow is a webhook with the name of its app.
type webhookRow struct {
	consolestore.WebhookHealth
	App string
}

// webhookRows returns webhooks with the names of their apps.
func (v *visit) webhookRows(all []consolestore.WebhookHealth) ([]webhookRow, error) {
	var ids operator.NamedIDs
	for _, one := range all {
		ids.Apps = append(ids.Apps, one.AppID)
	}
	names, err := v.cfg.Operator.Names(v.r.Context(), v.by, ids)
	rows := make([]webhookRow, 0, len(all))
	for _, one := range all {
		rows = append(rows, webhookRow{one, names.Apps[one.AppID]})
	}
	return rows, err
}

// showFigures is the dashboard: how the platform does, and what waits for an operator.
func (v *visit) showFigures() error {
	f, err := v.cfg.Operator.Figures(v.r.Context(), v.by)
	if err != nil {
		return err
	}
	var data figuresView
	if data.Table.Webhooks, err = v.webhookRows(f.Failing); err != nil {
		return err
	}
	waiting, err := v.cfg.Operator.Reviews(v.r.Context(), v.by, console.Page{Limit: fewReviews})
	if err != nil {
		return err
	}
	if data.Reviews, err = v.reviewRows(waiting.Items); err != nil {
		return err
	}
	latency := callstore.Latency{}
	for _, hour := range f.Hours[len(f.Hours)-24:] {
		latency.Add(hour.Latency)
	}
	failing := "" // where the table is
	if len(data.Table.Webhooks) > 0 {
		failing = "#failing"
	}
	count := func(n int) string { return site.Grouped(int64(n)) }
	data.Day = []figure{
		{Name: "Calls", Value: site.Grouped(f.Calls)}, {Name: "Errors", Value: site.Grouped(f.Errors), Share: share(f.Errors, f.Calls)},
		{Name: "Rate-limited", Value: site.Grouped(f.RateLimited), Share: share(f.RateLimited, f.Calls)}, {Name: "p95 latency", Value: site.Milliseconds(latency.Percentile(95)), Share: "p50 " + site.Milliseconds(latency.Percentile(50))},
		{Name: "Deliveries", Value: site.Grouped(f.Deliveries)}, {Name: "Failed deliveries", Value: site.Grouped(f.FailedDeliveries), Share: share(f.FailedDeliveries, f.Deliveries), Path: failing},
	}
	if f.Calls == 0 {
		data.Day[3].Value, data.Day[3].Share = "–", ""
	}
	status := func(s partner.AppStatus) string { return "/apps?status=" + string(s) }
	data.Now = []figure{
		{Name: "Active apps", Value: count(f.Apps[partner.AppActive]), Path: status(partner.AppActive)}, {Name: "Suspended apps", Value: count(f.Apps[partner.AppSuspended]), Path: status(partner.AppSuspended)},
		{Name: "Installations", Value: count(f.Installations), Path: "/apps"}, {Name: "Waiting deliveries", Value: site.Grouped(f.QueuedDeliveries)},
		{Name: "Reviews to do", Value: count(f.Reviews), Path: "/reviews"}, {Name: "Failing webhooks", Value: count(f.FailingWebhooks), Path: failing},
	}
	hours := site.ByHour(f.Hours)
	data.Charts = []look.Chart{
		site.CallChart("Calls by hour", "Hour", site.HourPoints(hours), hours),
		site.LatencyChart("Latency by hour", "Hour", site.HourPoints(hours), hours),
	}
	return v.show("figures", "Dashboard", data)
}

// share is a part of a whole in per cent; empty: there is no part.
func share(part, whole int64) string {
	switch percent := 100 * float64(part) / float64(max(1, whole)); {
	case part == 0:
		return ""
	case percent < .1:
		return "< 0.1 %"
	default:
		return fmt.Sprintf("%.1f %%", percent)
	}
}
