package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
)

// How far back a report goes, in days.
const (
	maxReportDays     = 90
	defaultReportDays = 30
)

// Report returns how an app was used on the last days, today included;
// analytics.ErrPeriod, or a 404 of apierror.
func (c *Console) Report(ctx context.Context, by Actor, appID string, days int) (analytics.Report, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return analytics.Report{}, err
	}
	return c.cfg.Analytics.Report(ctx, appID, days)
}

// groupings are the allowed groupings of a report.
var groupings = []analytics.GroupBy{analytics.ByRoute, analytics.ByStatus, analytics.ByBusiness}

// Groups returns how an app was used on the last days, today included, by route, status or
// business: the groups with the most calls, most first; analytics.ErrPeriod, or a 404 of
// apierror.
func (c *Console) Groups(ctx context.Context, by Actor, appID string, grouping analytics.GroupBy, days int) ([]analytics.Group, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Analytics.Groups(ctx, appID, grouping, days)
}

// Hours returns how an app was used in the last hours, the one that has begun
// included, oldest first; analytics.ErrPeriod, or a 404 of apierror.
func (c *Console) Hours(ctx context.Context, by Actor, appID string, last int) ([]analytics.Hour, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	end := c.cfg.Clock.Now().Truncate(time.Hour).Add(time.Hour)
	return c.cfg.Analytics.Hours(ctx, appID, end.Add(-time.Duration(last)*time.Hour), end)
}

func (c *Console) analyticsRoutes() []route {
	return []route{
		{"GET /developer/apps/{appId}/analytics", c.serveReport},
		{"GET /developer/apps/{appId}/usage", c.listUsage},
		{"GET /developer/apps/{appId}/requests", c.listRequests},
		{"GET /developer/apps/{appId}/requests/{requestId}", c.serveRequest},
	}
}

func (c *Console) serveReport(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := readQuery(r)
	days := q.number("days", maxReportDays, defaultReportDays)
	grouping := analytics.GroupBy(q.text("by"))
	if q.values.Has("by") && !slices.Contains(groupings, grouping) {
		q.problems.Add("by", "must be one of route, status, business")
	}
	if err := q.problems.Err(); err != nil {
		return err
	}
	report, err := c.Report(r.Context(), by, r.PathValue("appId"), days)
	if err != nil {
		return err
	}
	if grouping == "" {
		return apierror.WriteJSON(w, http.StatusOK, report)
	}
	groups, err := c.Groups(r.Context(), by, r.PathValue("appId"), grouping, days)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		analytics.Report
		Groups []groupPayload `json:"groups"`
	}{report, convert(groups, func(g analytics.Group) groupPayload { return groupPayload{g.Key, g.Counts} })})
}

type groupPayload struct {
	Key string `json:"key"` // empty: calls that no route serves
	analytics.Counts
}
