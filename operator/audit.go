package operator

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
)

// AuditFilter selects the entries to list. The zero value selects all entries.
type AuditFilter struct {
	UserID       string // who did it
	Action       audit.Action
	AppID        string
	Since, Until time.Time // from Since on, and before Until
}

func (f AuditFilter) query(before string, limit int) audit.Query {
	return audit.Query{
		All: true, AppID: f.AppID, UserID: f.UserID, Action: f.Action, Since: f.Since, Until: f.Until, Before: before, Limit: limit,
	}
}

// Audit lists the entries of all apps and the entries without an app, newest first. Its
// error is one of apierror for an invalid cursor.
func (o *Operator) Audit(ctx context.Context, _ Actor, f AuditFilter, p console.Page) (console.Paged[audit.Entry], error) {
	if p.After != "" && !id.Valid(id.Audit, p.After) {
		return console.Paged[audit.Entry]{}, apierror.InvalidAt("after", "must be the nextCursor of a page")
	}
	limit := limitOf(p)
	entries, err := o.cfg.Store.Audit(ctx, f.query(p.After, limit+1))
	return cut(entries, limit, func(e audit.Entry) string { return e.ID }), err
}

// exportBatch is how many entries an export reads at once.
const exportBatch = 1000

// ExportAudit calls each with every entry, newest first, until one fails.
func (o *Operator) ExportAudit(ctx context.Context, _ Actor, f AuditFilter, each func(audit.Entry) error) error {
	for before := ""; ; {
		entries, err := o.cfg.Store.Audit(ctx, f.query(before, exportBatch))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := each(entry); err != nil {
				return err
			}
		}
		if len(entries) < exportBatch {
			return nil
		}
		before = entries[len(entries)-1].ID
	}
}

// period is the period of the figures.
const period = 24 * time.Hour

// PlatformFigures are the figures of the whole platform and the webhooks that are failing.
type PlatformFigures struct {
	Since time.Time // the beginning of the period, which ends now
	consolestore.Figures
	Failing []consolestore.WebhookHealth // at most MaxDetails
	// Hours are the calls of all apps in each of the last 48 hours, the one that has begun included,
	// oldest first.
	Hours []analytics.Hour
}

// hoursOfFigures is how many hours [PlatformFigures] has.
const hoursOfFigures = 48

// Figures counts what there is, and what happened within the last 24 hours.
func (o *Operator) Figures(ctx context.Context, _ Actor) (PlatformFigures, error) {
	since := o.cfg.Clock.Now().Add(-period)
	figures, err := o.cfg.Store.Figures(ctx, since)
	if err != nil {
		return PlatformFigures{}, err
	}
	failing, err := o.cfg.Store.FailingWebhooks(ctx, MaxDetails)
	if err != nil {
		return PlatformFigures{}, err
	}
	first := o.cfg.Clock.Now().UTC().Truncate(time.Hour).Add(-(hoursOfFigures - 1) * time.Hour)
	found, err := o.cfg.Store.CallHours(ctx, first)
	hours := make([]analytics.Hour, hoursOfFigures)
	for i := range hours {
		hours[i].Start = first.Add(time.Duration(i) * time.Hour)
		if len(found) > 0 && found[0].Start.Equal(hours[i].Start) {
			hours[i], found = found[0], found[1:]
		}
	}
	return PlatformFigures{since, figures, failing, hours}, err
}
