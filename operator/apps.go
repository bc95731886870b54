package operator

import (
	"context"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// maxQuery is the length of a search, in characters: no name or id is longer. SQLite does not
// match patterns of 50,000 bytes.
const maxQuery = 512

// AppFilter selects the apps to list. The zero value selects all apps.
type AppFilter struct {
	// Query is a part of the name, an id, a client_id, the host of a redirect URI, or an
	// organization's id or, if the Host is a [Finder], name.
	Query          string
	OrganizationID string // empty: any
	Status         partner.AppStatus
}

// Apps lists apps, newest first. Its error is one of apierror for a filter or a cursor that
// makes no sense.
func (o *Operator) Apps(ctx context.Context, _ Actor, f AppFilter, p console.Page) (console.Paged[partner.App], error) {
	var v apierror.Validation
	switch {
	case !text.IsStorable(f.Query):
		v.Add("query", "must be UTF-8 without NUL")
	case utf8.RuneCountInString(f.Query) > maxQuery:
		v.Add("query", "must have at most %d characters", maxQuery)
	}
	if _, ok := appActions[f.Status]; !ok && f.Status != "" {
		v.Add("status", "must be ACTIVE, SUSPENDED or DEACTIVATED")
	}
	switch ok, err := o.isAppCursor(ctx, p.After); {
	case err != nil:
		return console.Paged[partner.App]{}, err
	case !ok:
		v.Add("after", "must be the nextCursor of a page")
	}
	if err := v.Err(); err != nil {
		return console.Paged[partner.App]{}, err
	}
	limit := limitOf(p)
	q := partner.AppQuery{All: f.OrganizationID == "", Text: f.Query, Status: f.Status, Before: p.After, Limit: limit + 1}
	if !q.All {
		q.OrganizationIDs = []string{f.OrganizationID}
	}
	if f.Query != "" {
		organizations, err := o.findOrganizations(ctx, f.Query)
		if err != nil {
			return console.Paged[partner.App]{}, err
		}
		for _, one := range organizations {
			q.TextOrganizations = append(q.TextOrganizations, one.ID)
		}
	}
	apps, err := o.cfg.Store.Apps(ctx, q)
	return cut(apps, limit, func(a partner.App) string { return a.ID }), err
}

// isAppCursor reports whether a page can go on after an app: one with a generated id, even
// if it no longer exists, or one that exists. The host may have imported apps with ids of
// another form.
func (o *Operator) isAppCursor(ctx context.Context, after string) (bool, error) {
	if after == "" || id.Valid(id.App, after) {
		return true, nil
	}
	if !text.IsStorable(after) {
		return false, nil
	}
	_, err := o.cfg.Store.App(ctx, after)
	if errors.Is(err, partner.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// AppDetails is an app with everything that its page shows.
type AppDetails struct {
	partner.App
	Installations []partner.Installation       // active ones, at most MaxDetails
	Webhooks      []consolestore.WebhookHealth // at most MaxDetails
	Calls         analytics.Report             // of the last 30 days
	Limits        []console.LimitUse           // empty: the limiter cannot be read
	History       []audit.Entry                // newest first, at most MaxDetails
	Review        AppReview
}

// MaxDetails is how many installations, webhooks and audit entries [AppDetails] has at most.
const MaxDetails = 100

// reportDays is how far back the calls of [AppDetails] go.
const reportDays = 30

// App returns an app with all that there is to know about it; its error is one of apierror,
// 404 when there is no such app.
func (o *Operator) App(ctx context.Context, _ Actor, appID string) (AppDetails, error) {
	app, err := o.cfg.Store.App(ctx, appID)
	if err != nil {
		return AppDetails{}, absent("app", err)
	}
	details := AppDetails{App: app}
	if details.Installations, err = o.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: appID, Limit: MaxDetails}); err != nil {
		return AppDetails{}, err
	}
	if details.Webhooks, err = o.cfg.Store.WebhookHealth(ctx, appID, MaxDetails); err != nil {
		return AppDetails{}, err
	}
	if details.Calls, err = o.cfg.Analytics.Report(ctx, appID, reportDays); err != nil {
		return AppDetails{}, err
	}
	switch details.Limits, err = o.cfg.Console.AppLimitUses(ctx, app, ""); {
	case errors.Is(err, ratelimit.ErrUnavailable): // an app can be suspended while its limiter is down
		o.cfg.Logger.WarnContext(ctx, "reading the limits of an app failed", "app", appID, "err", err)
	case err != nil:
		return AppDetails{}, err
	}
	if details.History, err = o.cfg.Store.Audit(ctx, audit.Query{AppID: appID, Limit: MaxDetails}); err != nil {
		return AppDetails{}, err
	}
	details.Review, err = o.review(ctx, app)
	return details, err
}

// appActions are the statuses of an app and what setting them is called in the audit log.
var appActions = map[partner.AppStatus]audit.Action{
	partner.AppActive:      audited.AppReactivated,
	partner.AppSuspended:   audited.AppSuspended,
	partner.AppDeactivated: audited.AppDeactivated,
}

// checkAppStatus returns a validation error that names everything that is wrong.
func checkAppStatus(status partner.AppStatus, reason string) error {
	var v apierror.Validation
	if _, ok := appActions[status]; !ok {
		v.Add("status", "must be ACTIVE, SUSPENDED or DEACTIVATED")
	}
	checkReason(&v, reason)
	return v.Err()
}

// SetAppStatus suspends, reactivates or deactivates an app, with a reason that its
// developers see. Deactivation is final: afterwards the error is one of apierror, 409. It is
// 404 when there is no such app.
func (o *Operator) SetAppStatus(ctx context.Context, by Actor, appID string, status partner.AppStatus, reason string) (partner.App, error) {
	if err := checkAppStatus(status, reason); err != nil {
		return partner.App{}, err
	}
	action := appActions[status]
	var changed partner.App
	err := o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		if err := o.cfg.OAuth.SetAppStatus(ctx, appID, status); err != nil {
			return audit.Entry{}, err
		}
		var err error
		changed, err = o.cfg.Store.UpdateApp(ctx, appID, func(a partner.App) (partner.App, error) {
			a.StatusReason = reason
			return a, nil
		})
		entry := by.did(action, reason)
		entry.AppID = appID
		return entry, err
	})
	switch {
	case errors.Is(err, oauthstore.ErrDeactivated):
		final := apierror.Entry{Status: http.StatusConflict, Message: "app {p0} is deactivated, which is final"}
		return partner.App{}, final.New(appID)
	case err != nil:
		return partner.App{}, absent("app", err)
	}
	return changed, nil
}

// Asset returns an image of an app's listing with its Data; its error is one of apierror,
// 404.
func (o *Operator) Asset(ctx context.Context, _ Actor, appID, assetID string) (consolestore.Asset, error) {
	if !id.Valid(id.Asset, assetID) {
		return consolestore.Asset{}, apierror.NotFound("asset")
	}
	asset, err := o.cfg.Store.Asset(ctx, appID, assetID)
	return asset, absent("asset", err)
}

// absent converts the not-found errors of the features into a 404.
func absent(what string, err error) error {
	if errors.Is(err, partner.ErrNotFound) {
		return apierror.NotFound(what)
	}
	return err
}

// limitOf returns how many entries a page has.
func limitOf(p console.Page) int {
	if p.Limit < 1 || p.Limit > console.MaxLimit {
		return console.DefaultLimit
	}
	return p.Limit
}

// cut makes a page of items that were read with a limit of one more than the page size. The
// additional item shows whether there is another page.
func cut[T any](items []T, limit int, cursorOf func(T) string) console.Paged[T] {
	if len(items) <= limit {
		return console.Paged[T]{Items: items}
	}
	return console.Paged[T]{Items: items[:limit], NextCursor: cursorOf(items[limit-1])}
}
