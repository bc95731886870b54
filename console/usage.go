package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/export"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// UsagePeriod is a period of days in UTC, both ends included. A zero end means its default:
// today, and 29 days before To.
type UsagePeriod struct{ From, To time.Time }

// Within returns the period with its defaults.
func (p UsagePeriod) Within(now time.Time) UsagePeriod {
	if p.To.IsZero() {
		p.To = now
	}
	if p.From.IsZero() {
		p.From = p.To.AddDate(0, 0, 1-defaultReportDays)
	}
	return p
}

// Usage returns what an app used by business and UTC day, by day and then by business. Its
// error is one of apierror: 404, or what is wrong with the period and the page.
func (c *Console) Usage(ctx context.Context, by Actor, appID string, period UsagePeriod, p Page) (Paged[callstore.Usage], error) {
	app, err := c.App(ctx, by, appID)
	if err != nil {
		return Paged[callstore.Usage]{}, err
	}
	return c.AppUsage(ctx, app, period, p)
}

// AppUsage is [Console.Usage] for the platform's own staff: without an Actor, for any app.
func (c *Console) AppUsage(ctx context.Context, app partner.App, period UsagePeriod, p Page) (Paged[callstore.Usage], error) {
	after, ok := usageCursor(p.After)
	if !ok {
		return Paged[callstore.Usage]{}, apierror.InvalidAt("after", "must be the nextCursor of a page")
	}
	period = period.Within(c.cfg.Clock.Now())
	found, err := c.cfg.Analytics.Usage(ctx, callstore.UsageQuery{AppID: app.ID, From: period.From, To: period.To, After: after, Limit: p.limit() + 1})
	return cut(found, p.limit(), func(u callstore.Usage) string { return u.Day.Format(time.DateOnly) + u.BusinessID }), usageError(err)
}

// usageCursor reads a day and a business id.
func usageCursor(after string) (callstore.UsageCursor, bool) {
	if after == "" {
		return callstore.UsageCursor{}, true
	}
	if len(after) < len(time.DateOnly) || !text.IsStorable(after) {
		return callstore.UsageCursor{}, false
	}
	day, err := time.Parse(time.DateOnly, after[:len(time.DateOnly)])
	return callstore.UsageCursor{Day: day, BusinessID: after[len(time.DateOnly):]}, err == nil
}

// usageError makes a wrong period an error of the caller.
func usageError(err error) error {
	if errors.Is(err, analytics.ErrPeriod) {
		return apierror.InvalidAt("from", "must be at most %d days before to, and not after it", analytics.MaxDays-1)
	}
	return err
}

var usageColumns = []export.Column[callstore.Usage]{
	{Name: "date", Value: func(u callstore.Usage) any { return u.Day.Format(time.DateOnly) }},
	{Name: "businessId", Value: func(u callstore.Usage) any { return u.BusinessID }},
	{Name: "calls", Value: func(u callstore.Usage) any { return u.Calls }},
	{Name: "errors", Value: func(u callstore.Usage) any { return u.Errors }},
	{Name: "bytes", Value: func(u callstore.Usage) any { return u.Bytes }},
}

// ExportUsage responds with the whole usage of an app in a period as a file, in one of the
// formats "csv" and "jsonl". Its error is that of [Console.Usage], and nothing is written then.
// What fails later ends the connection, so that a part does not look like the whole.
func (c *Console) ExportUsage(w http.ResponseWriter, r *http.Request, app partner.App, period UsagePeriod, format string) error {
	period = period.Within(c.cfg.Clock.Now())
	name := "usage-" + period.From.UTC().Format(time.DateOnly) + "-" + period.To.UTC().Format(time.DateOnly)
	file := export.File[callstore.Usage]{Name: name, Format: export.Format(format), Columns: usageColumns}
	err := file.Serve(w, func(yield func(callstore.Usage) error) error {
		return c.cfg.Analytics.EachUsage(r.Context(), app.ID, period.From, period.To, yield)
	}, func(err error) {
		c.cfg.Logger.WarnContext(r.Context(), "usage export failed", "app", app.ID, "err", err)
	})
	return usageError(err)
}

type usagePayload struct {
	Date       string `json:"date"`
	BusinessID string `json:"businessId"`
	Calls      int64  `json:"calls"`
	Errors     int64  `json:"errors"`
	Bytes      int64  `json:"bytes"`
}

func newUsagePayload(u callstore.Usage) usagePayload {
	return usagePayload{Date: u.Day.Format(time.DateOnly), BusinessID: u.BusinessID, Calls: u.Calls, Errors: u.Errors, Bytes: u.Bytes}
}

func (c *Console) listUsage(w http.ResponseWriter, r *http.Request, by Actor) error {
	app, err := c.App(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return c.ServeAppUsage(w, r, app)
}

// ServeAppUsage responds to a request for the usage of an app: the parameters from, to, after
// and limit, and an Accept header that may ask for an export. The caller has checked who asks.
func (c *Console) ServeAppUsage(w http.ResponseWriter, r *http.Request, app partner.App) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	q.Only("from", "to", "after", "limit")
	period := UsagePeriod{From: q.Date("from"), To: q.Date("to")}
	page := Page{After: q.Text("after"), Limit: q.Number("limit", MaxLimit, DefaultLimit)}
	if err := q.Err(); err != nil {
		return err
	}
	if format := export.Requested(r); format != "" {
		return c.ExportUsage(w, r, app, period, string(format))
	}
	usage, err := c.AppUsage(r.Context(), app, period, page)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(usage.Items, usage.NextCursor, newUsagePayload))
}
