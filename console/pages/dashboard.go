package pages

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

// dashboard is how an app does, in figures and a chart of the last hours, and what to look at.
type dashboard struct {
	Figures []figure
	ByHour  look.Chart
	Causes  []cause
	Hooks   []dashboardHook
}

// figure is a number with how it has changed. Path is where its details are.
type figure struct {
	Name, Value, Path string
	Trend             string // in words; empty: there is nothing to compare with
	Kind              string // of the trend: up is well, down is not; empty: neither
}

// cause is something that goes wrong: how often, why, and what to do.
type cause struct {
	Badge  look.Badge
	Text   string
	Path   string // where it can be seen
	Count  string
	Reason string
	Advice look.Link // what to do; its address is below that of the app
}

type dashboardHook struct {
	partner.Webhook
	Badge     look.Badge
	Succeeded string
}

// Hours of the chart of a dashboard, and of its figures.
const (
	dashboardHours = 48
	figureHours    = 24
	maxCauses      = 4
)

// dashboard reads how the app does.
func (v *visit) dashboard(hooks []partner.Webhook) (dashboard, error) {
	ctx := v.r.Context()
	end := v.cfg.Clock.Now().Truncate(time.Hour).Add(time.Hour)
	hours, err := v.cfg.Console.Hours(ctx, v.by, v.app.ID, end.Add(-dashboardHours*time.Hour), end)
	if err != nil {
		return dashboard{}, err
	}
	installed, err := v.cfg.Console.Installations(ctx, v.by, v.app.ID, console.Page{Limit: console.MaxLimit})
	if err != nil {
		return dashboard{}, err
	}
	byHours := site.ByHour(hours)
	d := dashboard{ByHour: site.CallChart("Calls by hour", "Hour", site.HourPoints(byHours), byHours), Causes: hookCauses(hooks)}
	d.Figures = append(callFigures(hours), connectedFigure(installed))
	for _, hook := range hooks {
		d.Hooks = append(d.Hooks, dashboardHook{hook, healthBadge(hook), succeeded(hook.Health)})
	}
	errors, err := v.errorCauses()
	d.Causes = append(d.Causes, errors...)
	return d, err
}

// total adds up hours.
func total(hours []analytics.Hour) (sum analytics.Hour) {
	for _, hour := range hours {
		sum.Counts.Add(hour.Counts)
		sum.Latency.Add(hour.Latency)
	}
	return sum
}

// callFigures compares the last day with the one before it.
func callFigures(hours []analytics.Hour) []figure {
	cut := max(0, len(hours)-figureHours)
	now, before := total(hours[cut:]), total(hours[:cut])
	calls := figure{Name: "Calls, 24 h", Value: site.Grouped(now.Calls), Path: "/requests"}
	if before.Calls > 0 {
		calls.Trend = change(100*(float64(now.Calls)/float64(before.Calls)-1), " %") + " the day before"
	}
	failed := figure{Name: "Errors", Value: rate(now.Counts), Path: "/requests?status=4xx"}
	if points := errorShare(now.Counts) - errorShare(before.Counts); before.Calls > 0 && now.Calls > 0 {
		failed.Trend = change(points, " points") + " the day before"
		switch {
		case points >= .05:
			failed.Kind = "down"
		case points <= -.05:
			failed.Kind = "up"
		}
	}
	latency := figure{Name: "p95 latency", Value: "–", Path: "/analytics"}
	if now.Calls > 0 {
		latency.Value = site.Milliseconds(now.Latency.Percentile(95))
		latency.Trend = "p50 " + site.Milliseconds(now.Latency.Percentile(50))
	}
	return []figure{calls, failed, latency}
}

// change says by how much something has grown or fallen.
func change(by float64, unit string) string {
	digits := 1
	if by >= 10 || by <= -10 {
		digits = 0
	}
	text := strconv.FormatFloat(max(by, -by), 'f', digits, 64) + unit
	switch {
	case by >= .05:
		return "↑ " + text + " on"
	case by <= -.05:
		return "↓ " + text + " on"
	}
	return "as much as"
}

// errorShare is the per cent of calls that were errors.
func errorShare(c callstore.Counts) float64 {
	if c.Calls == 0 {
		return 0
	}
	return 100 * float64(c.Errors) / float64(c.Calls)
}

func rate(c callstore.Counts) string {
	if c.Calls == 0 {
		return "–"
	}
	return strconv.FormatFloat(errorShare(c), 'f', 1, 64) + " %"
}

func connectedFigure(page console.Paged[console.Installation]) figure {
	n := 0
	for _, one := range page.Items {
		if one.Status == partner.InstallationActive {
			n++
		}
	}
	value := site.Grouped(int64(n))
	if page.NextCursor != "" {
		value += "+"
	}
	return figure{Name: "Connected businesses", Value: value, Path: "/installations"}
}

// succeeded is the part of the attempts that arrived; – without attempts.
func succeeded(h partner.WebhookHealth) string {
	failed, ok := h.FailureRate()
	switch {
	case !ok:
		return "–"
	case failed == 0:
		return "100 %"
	}
	return strconv.FormatFloat(math.Floor(1000*(1-failed))/10, 'f', 1, 64) + " %"
}

// hookCauses are the webhooks that need somebody.
func hookCauses(hooks []partner.Webhook) []cause {
	var causes []cause
	failing, degraded := unwell(hooks)
	of := fmt.Sprintf(" of %d webhooks ", len(hooks))
	if failing > 0 {
		causes = append(causes, cause{
			Badge: look.Badge{Kind: "bad", Text: "Failing"}, Text: fmt.Sprint(failing) + of + isOrAre(failing) + " failing", Path: "/webhooks",
			Reason: "Nothing has arrived there for a while, or the webhook was switched off for it.", Advice: look.Link{Text: "See the webhooks", Href: "/webhooks"},
		})
	}
	if degraded > 0 {
		causes = append(causes, cause{
			Badge: look.Badge{Kind: "warn", Text: "Degraded"}, Text: fmt.Sprint(degraded) + of + isOrAre(degraded) + " degraded", Path: "/webhooks",
			Reason: "In the last hour some attempts failed and others succeeded.", Advice: look.Link{Text: "See the webhooks", Href: "/webhooks"},
		})
	}
	return causes
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// errorCauses groups the last errors of a day by their route and status, most frequent first.
func (v *visit) errorCauses() ([]cause, error) {
	type kind struct {
		method, route string
		status        int
		code          string
	}
	counts := map[kind]int{}
	last := map[kind]callstore.Request{}
	var kinds []kind
	since := v.cfg.Clock.Now().Add(-figureHours * time.Hour)
	for _, class := range []string{"4xx", "5xx"} {
		page, err := v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, console.RequestFilter{Status: class, Since: since}, console.Page{Limit: console.MaxLimit})
		if err != nil {
			return nil, err
		}
		for _, one := range page.Items {
			k := kind{one.Method, one.Route, one.Status, one.Code}
			if counts[k]++; counts[k] == 1 {
				kinds, last[k] = append(kinds, k), one
			}
		}
	}
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(counts[b], counts[a]) })
	var causes []cause
	for _, k := range kinds[:min(maxCauses, len(kinds))] {
		row := newRequestRow(last[k])
		query := url.Values{"status": {strconv.Itoa(k.status)}}
		if k.route != "" {
			query.Set("route", k.route)
		}
		todo := v.adviceFor(last[k])
		badge := statusBadge(k.status)
		badge.Text = strconv.Itoa(k.status)
		causes = append(causes, cause{
			Badge: badge, Text: cmp.Or(k.route, k.method+", no such endpoint"), Path: "/requests?" + query.Encode(),
			Count: site.Grouped(int64(counts[k])), Reason: row.Reason, Advice: look.Link{Text: todo.Link, Href: todo.Path},
		})
	}
	return causes, nil
}
