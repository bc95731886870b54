package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func analyticsRoutes() []route {
	return []route{{"GET", "/apps/{appId}/analytics", (*visit).showAnalytics}}
}

// periods are how many days a person may choose to see at once; defaultPeriod is what they see
// before that.
var periods = []int{7, 30, 90}

const (
	maxGroups     = 25 // rows of a table, those with the most calls
	defaultPeriod = 30
	chartHours    = 48
)

type analyticsView struct {
	AppID    string
	Choice   []look.Link
	Range    look.Chips // a period of one's own
	Text     string     // the period, in words
	Totals   callstore.Counts
	P50, P95 string
	IsBare   bool // there were no calls at all
	Charts   []look.Chart
	Groups   []groupTable
	IsCut    bool // the period has days whose groups are no longer kept
}

// groupTable is the calls by route, status or business.
type groupTable struct {
	Title, Unit, Param string // Param is what the request log is filtered by
	Rows               []callstore.Group
}

// groupings are the tables of the page.
var groupings = []struct {
	by    callstore.GroupBy
	table groupTable
}{
	{callstore.ByRoute, groupTable{Title: "By route", Unit: "Route", Param: "route"}},
	{callstore.ByStatus, groupTable{Title: "By status", Unit: "Status", Param: "status"}},
	{callstore.ByBusiness, groupTable{Title: "By business", Unit: "Business", Param: "businessId"}},
}

const analyticsTitle = "Analytics"

// days are days in UTC, from the first on and before the end.
type days struct{ first, end time.Time }

func (d days) count() int { return int(d.end.Sub(d.first) / (24 * time.Hour)) }

// readDays reads the period of an address: its last days, or from a day to another. It returns
// the last days for what makes no sense, with what is wrong with the fields of the form.
func (v *visit) readDays(q url.Values) (period days, isOwn bool, from, to entry) {
	tomorrow := v.cfg.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	last, err := strconv.Atoi(q.Get("days"))
	if err != nil || !slices.Contains(periods, last) {
		last = defaultPeriod
	}
	period = days{tomorrow.AddDate(0, 0, -last), tomorrow}
	from, to = readDay(q, "from"), readDay(q, "to")
	if from.Value == "" && to.Value == "" || from.Problem != "" || to.Problem != "" {
		return period, false, from, to
	}
	own := days{end: tomorrow}
	if to.Value != "" {
		own.end, _ = time.Parse(time.DateOnly, to.Value)
		own.end = own.end.AddDate(0, 0, 1)
	}
	own.first = own.end.AddDate(0, 0, -defaultPeriod)
	if from.Value != "" {
		own.first, _ = time.Parse(time.DateOnly, from.Value)
	}
	if own.count() < 1 || own.count() > analytics.MaxDays {
		from.Problem = fmt.Sprintf("Choose a period of at most %d days that ends after it begins.", analytics.MaxDays)
		return period, false, from, to
	}
	return own, true, from, to
}

// showAnalytics is how the app was used, by day and by hour.
func (v *visit) showAnalytics() error {
	ctx, own := v.r.Context(), path("apps", v.app.ID, "analytics")
	period, isOwn, from, to := v.readDays(v.r.URL.Query())
	data := analyticsView{AppID: v.app.ID, Text: fmt.Sprintf("last %d days", period.count())}
	if isOwn {
		data.Text = period.first.Format("2 Jan 2006") + " to " + period.end.AddDate(0, 0, -1).Format("2 Jan 2006")
	}
	for _, n := range periods {
		data.Choice = append(data.Choice, look.Link{Text: fmt.Sprintf("%d days", n), Href: v.site.ListAt(own, url.Values{"days": {strconv.Itoa(n)}}, ""), Current: !isOwn && n == period.count()})
	}
	focusFirst(&from, &to)
	data.Range = v.withClear(own, url.Values{"from": {from.Value}, "to": {to.Value}}, []look.Chip{
		{Name: "from", Label: "From", Kind: "day", Value: from.Value, Problem: from.Problem, IsFirst: from.IsFirst},
		{Name: "to", Label: "To", Kind: "day", Value: to.Value, Problem: to.Problem, IsFirst: to.IsFirst},
	})
	hours, err := v.cfg.Console.Hours(ctx, v.by, v.app.ID, period.first, period.end)
	if err != nil {
		return err
	}
	now := v.cfg.Clock.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	recent := slices.DeleteFunc(slices.Clone(hours), func(h analytics.Hour) bool { return !h.Start.Before(now) }) // not those that are to come
	recent = recent[max(0, len(recent)-chartHours):]
	sum := total(hours)
	data.Totals, data.IsBare = sum.Counts, sum.Calls == 0
	data.P50, data.P95 = site.Milliseconds(sum.Latency.Percentile(50)), site.Milliseconds(sum.Latency.Percentile(95))
	byDays, unit := site.ByDay(hours)
	byHours := site.ByHour(recent)
	data.Charts = []look.Chart{
		site.CallChart("Calls by "+strings.ToLower(unit), unit, site.DayPoints(byDays, unit), byDays),
		site.LatencyChart("Latency by "+strings.ToLower(unit), unit, site.DayPoints(byDays, unit), byDays),
		site.CallChart("Calls by hour", "Hour", site.HourPoints(byHours), byHours),
	}
	kept := period
	if oldest := now.Truncate(24*time.Hour).AddDate(0, 0, 1).Add(-analytics.GroupRetention); kept.first.Before(oldest) {
		kept.first, data.IsCut = oldest, true
	}
	for _, one := range groupings {
		table := one.table
		if !kept.first.Before(kept.end) {
			break
		}
		if table.Rows, err = v.cfg.Console.Groups(ctx, v.by, callstore.GroupQuery{AppID: v.app.ID, By: one.by, From: kept.first, To: kept.end, Limit: maxGroups}); err != nil {
			return err
		}
		data.Groups = append(data.Groups, table)
	}
	if from.Problem != "" || to.Problem != "" {
		if err := v.findOthers(); err != nil {
			return err
		}
		return v.site.Show(v.w, http.StatusBadRequest, "analytics", look.Page{Frame: v.frame(analyticsTitle), Data: data})
	}
	return v.show("analytics", analyticsTitle, data)
}
