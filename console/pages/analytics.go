package pages

import (
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
)

func analyticsRoutes() []route {
	return []route{{"GET", "/apps/{appId}/analytics", (*visit).showAnalytics}}
}

// periods are how many days a person may choose to see; defaultPeriod is what they see
// before that.
var periods = []int{7, 30, 90}

const (
	maxGroups     = 25 // rows of a table, those with the most calls
	defaultPeriod = 30
	chartHours    = 48
)

type analyticsView struct {
	AppID  string
	Days   int
	Choice []periodChoice
	Totals analytics.Counts
	IsBare bool // there were no calls at all
	ByDay  chart
	ByHour chart
	Groups []groupTable
}

// groupTable is the calls by route, status or business.
type groupTable struct {
	Title, Unit, Param string // Param is what the request log is filtered by
	Rows               []analytics.Group
}

// groupings are the tables of the page.
var groupings = []struct {
	by    analytics.GroupBy
	table groupTable
}{
	{analytics.ByRoute, groupTable{Title: "By route", Unit: "Route", Param: "route"}},
	{analytics.ByStatus, groupTable{Title: "By status", Unit: "Status", Param: "status"}},
	{analytics.ByBusiness, groupTable{Title: "By business", Unit: "Business", Param: "businessId"}},
}

type periodChoice struct {
	Days    int
	Current bool
}

// showAnalytics is how the app was used, by day and by hour.
func (v *visit) showAnalytics() error {
	days, err := strconv.Atoi(v.r.URL.Query().Get("days"))
	if err != nil || !slices.Contains(periods, days) {
		days = defaultPeriod
	}
	report, err := v.cfg.Console.Report(v.r.Context(), v.by, v.app.ID, days)
	if err != nil {
		return err
	}
	hours, err := v.cfg.Console.Hours(v.r.Context(), v.by, v.app.ID, chartHours)
	if err != nil {
		return err
	}
	data := analyticsView{AppID: v.app.ID, Days: days, Totals: report.Totals.Counts, ByDay: dayChart(report.Days), ByHour: hourChart(hours)}
	data.IsBare = report.Totals.Calls == 0 && data.ByHour.isBare()
	for _, period := range periods {
		data.Choice = append(data.Choice, periodChoice{period, period == days})
	}
	for _, one := range groupings {
		table := one.table
		if table.Rows, err = v.cfg.Console.Groups(v.r.Context(), v.by, v.app.ID, one.by, days); err != nil {
			return err
		}
		table.Rows = table.Rows[:min(maxGroups, len(table.Rows))]
		data.Groups = append(data.Groups, table)
	}
	return v.show("analytics", "Analytics", data)
}

// dayChart marks some seven days, today among them.
func dayChart(days []analytics.Day) chart {
	points := make([]point, len(days))
	every := max(1, len(points)/6)
	for i, one := range days {
		day, _ := time.Parse(time.DateOnly, one.Date)
		points[i] = point{Name: day.Format("Mon 2 Jan 2006"), Counts: one.Counts}
		if back := len(days) - 1 - i; back%every == 0 {
			points[i].Mark, points[i].IsMinor = day.Format("2 Jan"), back/every%2 == 1
		}
	}
	return newChart("By day", "Day", points)
}

// hourChart marks midnight by the day, and noon and what is between by the hour.
func hourChart(hours []analytics.Hour) chart {
	points := make([]point, len(hours))
	for i, one := range hours {
		points[i] = point{Name: one.Start.Format("Mon 2 Jan, 15:04 UTC"), Counts: one.Counts}
		switch hour := one.Start.Hour(); {
		case hour == 0:
			points[i].Mark = one.Start.Format("2 Jan")
		case hour%6 == 0:
			points[i].Mark, points[i].IsMinor = one.Start.Format("15:04"), hour != 12
		}
	}
	return newChart("By hour", "Hour", points)
}
