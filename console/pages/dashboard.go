package pages

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
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

// hookCauses are the webhooks that a developer has to look after.
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

func overviewRoutes() []route {
	return []route{{"GET", "/apps/{appId}", (*visit).showApp}}
}

// recentDays is how many days the figures of the overview are about.
const recentDays = 7

type overviewView struct {
	App          partner.App
	ReadOnly     bool
	Badge        look.Badge
	Organization string
	Scopes       []scopeChoice // those of the app
	dashboard
	HasCalled bool // the app has called the API
	Waits     bool // something of the app waits for a review
	Todo      []todo
	IsReady   bool // all of it is done
}

// todo is something to do before an app is complete.
type todo struct {
	Text, Why string
	Path      string // below the app's own
	Done      bool
}

// showApp is how an app stands, and what to do next.
func (v *visit) showApp() error {
	ctx := v.r.Context()
	report, err := v.cfg.Console.Report(ctx, v.by, v.app.ID, recentDays)
	if err != nil {
		return err
	}
	hooks, err := v.cfg.Console.Webhooks(ctx, v.by, v.app.ID)
	if err != nil {
		return err
	}
	called, err := v.hasCalled(report)
	if err != nil {
		return err
	}
	listing, err := v.listing()
	if err != nil {
		return err
	}
	data := overviewView{
		App: v.app, ReadOnly: v.isReadOnly(), Badge: site.AppBadge(v.app), Organization: v.organization(v.app.OrganizationID),
		Waits: waits(v.app), HasCalled: called, Todo: todoList(v.app, len(hooks), listing, called),
	}
	if data.dashboard, err = v.dashboard(hooks); err != nil {
		return err
	}
	data.IsReady = !slices.ContainsFunc(data.Todo, func(t todo) bool { return !t.Done })
	for _, scope := range v.scopes(v.app.Scopes.Names()) {
		if scope.Checked {
			data.Scopes = append(data.Scopes, scope)
		}
	}
	return v.show("overview", "Overview", data)
}

// hasCalled reports whether the app has called the API: on the days of the report, or in one
// of the first businesses that connected it.
func (v *visit) hasCalled(report analytics.Report) (bool, error) {
	if report.Totals.Calls > 0 {
		return true, nil
	}
	page, err := v.cfg.Console.Installations(v.r.Context(), v.by, v.app.ID, console.Page{Limit: 5})
	return slices.ContainsFunc(page.Items, func(i console.Installation) bool { return !i.LastUsedAt.IsZero() }), err
}

// listing returns the listing of the app, or nil if it has none.
func (v *visit) listing() (*consolestore.Listing, error) {
	listing, err := v.cfg.Console.Listing(v.r.Context(), v.by, v.app.ID)
	if site.IsStatus(err, http.StatusNotFound) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	return &listing, err
}

// organization returns the name of one of the person's organizations.
func (v *visit) organization(id string) string {
	for _, o := range v.by.Organizations() {
		if o.ID == id {
			return o.Name
		}
	}
	return id
}

// todoList lists what there is to do for an app, in the order in which to do it.
func todoList(app partner.App, hooks int, listing *consolestore.Listing, called bool) []todo { //nolint:revive // what is done, not a switch
	return []todo{
		{"Add a redirect URI", "People return there after they have connected the app.", "/settings", len(app.RedirectURIs) > 0},
		{"Choose scopes", "The app can request only the scopes that you choose.", "/settings", len(app.Scopes.Names()) > 0},
		{"Make the first call", "One click gives a token for a sandbox business.", "/start", called},
		{"Add a webhook", "It receives the events of the businesses that connect.", "/webhooks", hooks > 0},
		{"Create a listing for the marketplace", "A name, a summary and a description, with images.", "/listing", listing != nil},
		{"Submit the listing", "Once it is approved any business can connect.", "/listing", listing != nil && (listing.Live != nil || listing.Revision.State != consolestore.RevisionDraft)},
	}
}
