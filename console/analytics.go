package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
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
var groupings = []callstore.GroupBy{callstore.ByRoute, callstore.ByStatus, callstore.ByBusiness}

// Groups returns how an app was used by route, status or business; see
// analytics.Counter.Groups. Its error can be a 404 of apierror too.
func (c *Console) Groups(ctx context.Context, by Actor, q callstore.GroupQuery) ([]callstore.Group, error) {
	if _, err := c.App(ctx, by, q.AppID); err != nil {
		return nil, err
	}
	return c.cfg.Analytics.Groups(ctx, q)
}

// Hours returns how an app was used in each hour of a time, oldest first; see
// analytics.Counter.Hours. Its error can be a 404 of apierror too.
func (c *Console) Hours(ctx context.Context, by Actor, appID string, from, to time.Time) ([]analytics.Hour, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Analytics.Hours(ctx, appID, from, to)
}

// lastDays asks for groups of the last days, today included.
func (c *Console) lastDays(appID string, by callstore.GroupBy, days int) callstore.GroupQuery {
	tomorrow := c.cfg.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	return callstore.GroupQuery{AppID: appID, By: by, From: tomorrow.AddDate(0, 0, -days), To: tomorrow}
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
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	days := q.Number("days", maxReportDays, defaultReportDays)
	grouping := callstore.GroupBy(q.Text("by"))
	if q.Has("by") && !slices.Contains(groupings, grouping) {
		q.Problems.Add("by", "must be one of route, status, business")
	}
	if err := q.Err(); err != nil {
		return err
	}
	report, err := c.Report(r.Context(), by, r.PathValue("appId"), days)
	if err != nil {
		return err
	}
	if grouping == "" {
		return apierror.WriteJSON(w, http.StatusOK, report)
	}
	groups, err := c.Groups(r.Context(), by, c.lastDays(r.PathValue("appId"), grouping, days))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		analytics.Report
		Groups []groupPayload `json:"groups"`
	}{report, jsonapi.Convert(groups, func(g callstore.Group) groupPayload { return groupPayload{g.Key, g.Counts} })})
}

type groupPayload struct {
	Key string `json:"key"` // empty: calls that no route serves
	callstore.Counts
}
