package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

// NewApp is an app as its developer describes it.
type NewApp struct {
	Name string             `json:"name"`
	Type partner.ClientType `json:"type"`
	// OrganizationID is one of the actor's; who has only one may leave it out.
	OrganizationID string   `json:"organizationId"`
	RedirectURIs   []string `json:"redirectUris"`
	Scopes         []string `json:"scopes"`
	// AppURL is https, see also Config.AllowLoopback; nil: none.
	AppURL *string `json:"appUrl"`
	// PinnedVersion is one of Console.Versions; nil: the current version.
	PinnedVersion *string `json:"pinnedVersion"`
}

// AppChange is a change of an app. Members that are not sent stay unchanged; null
// takes AppURL, PinnedVersion and CustomBusinessID away. Type and OrganizationID stay as they are, and
// are here to be refused.
type AppChange struct {
	Name          optional.Member[string]   `json:"name"`
	RedirectURIs  optional.Member[[]string] `json:"redirectUris"`
	Scopes        optional.Member[[]string] `json:"scopes"`
	AppURL        optional.Member[string]   `json:"appUrl"`
	PinnedVersion optional.Member[string]   `json:"pinnedVersion"`
	// CustomBusinessID names the business for a custom connection. Null ends the one that was
	// approved. It is known with oauthserver.Options.CustomConnections only.
	CustomBusinessID optional.Member[string] `json:"customBusinessId"`

	Type           optional.Member[string] `json:"type"`
	OrganizationID optional.Member[string] `json:"organizationId"`
	// Version is the version that the change is based on. The error is CONFLICT if the app has
	// another one.
	Version optional.Member[int64] `json:"version"`
}

// CreateApp registers an app, unreviewed, and returns it with its secret, which
// cannot be read again. Its error is a validation error of apierror that names
// everything that is wrong.
func (c *Console) CreateApp(ctx context.Context, by Actor, n NewApp) (oauthserver.CreatedApp, error) {
	app, err := c.newApp(by, n)
	if err != nil {
		return oauthserver.CreatedApp{}, err
	}
	var created oauthserver.CreatedApp
	err = c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		created, err = c.cfg.OAuth.CreateApp(ctx, app)
		return by.did(audited.AppCreated, created.App.ID, ""), err
	})
	if err != nil {
		return oauthserver.CreatedApp{}, err
	}
	return created, nil
}

// newApp returns the app in the terms of the OAuth server, or a validation error.
func (c *Console) newApp(by Actor, n NewApp) (oauthserver.NewApp, error) {
	var v apierror.Validation
	app := oauthserver.NewApp{
		Name: n.Name, Type: n.Type, OrganizationID: by.organization(&v, n.OrganizationID),
		RedirectURIs: n.RedirectURIs, Scopes: c.parseScopes(&v, n.Scopes),
	}
	if n.AppURL != nil {
		app.AppURL = c.appURL(&v, *n.AppURL)
	}
	if n.PinnedVersion != nil {
		app.PinnedVersion = c.version(&v, *n.PinnedVersion, "")
	}
	if err := v.Include(c.cfg.OAuth.CheckApp(app)); err != nil {
		return app, err
	}
	return app, v.Err()
}

// Apps lists the apps of the actor's organizations, newest first. Its error is one of
// apierror when the page does not go on after an app.
func (c *Console) Apps(ctx context.Context, by Actor, p Page) (Paged[partner.App], error) {
	if err := c.checkCursor(ctx, by, p.After); err != nil {
		return Paged[partner.App]{}, err
	}
	organizationIDs := jsonapi.Convert(by.organizations, func(o Organization) string { return o.ID })
	apps, err := c.cfg.Store.Apps(ctx, partner.AppQuery{OrganizationIDs: organizationIDs, Before: p.After, Limit: p.limit() + 1})
	return cut(apps, p.limit(), func(a partner.App) string { return a.ID }), err
}

// checkCursor accepts any id in the form of generated app ids, even if the app no longer
// exists, and the ids of the actor's apps, which may have another form if the host imported
// the apps.
func (c *Console) checkCursor(ctx context.Context, by Actor, after string) error {
	if after == "" || id.Valid(id.App, after) {
		return nil
	}
	problem := apierror.InvalidAt("after", "must be the nextCursor of a page")
	if !text.IsStorable(after) {
		return problem
	}
	_, err := c.App(ctx, by, after)
	if e, ok := errors.AsType[*apierror.Error](err); ok && e.Status() == http.StatusNotFound {
		return problem
	}
	return err
}

// UpdateApp changes an app. Simultaneous changes of different members do not overwrite each
// other. Its error is one of apierror: 404, that the app is deactivated, CONFLICT, or
// everything that is wrong.
func (c *Console) UpdateApp(ctx context.Context, by Actor, appID string, change AppChange) (partner.App, error) {
	app, _, err := c.updateAndReview(ctx, by, appID, change)
	return app, err
}

// updateAndReview is UpdateApp, and returns how far the review of the changed app has come.
func (c *Console) updateAndReview(ctx context.Context, by Actor, appID string, change AppChange) (partner.App, AppReview, error) {
	var changed partner.App
	var review AppReview
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, before partner.App) (audit.Entry, error) {
		next, err := c.appChange(before, change)
		if err != nil {
			return audit.Entry{}, err
		}
		next.By = by.did("", "", "")
		if changed, err = c.cfg.OAuth.UpdateApp(ctx, appID, next); err != nil {
			return audit.Entry{}, err
		}
		review, err = c.review(ctx, changed)
		return by.changedApp(before, changed), err
	})
	if err != nil {
		return partner.App{}, AppReview{}, err
	}
	return changed, review, nil
}

// appChange returns the change that was sent, in the terms of the OAuth server. Its error is
// CONFLICT or a validation error.
func (c *Console) appChange(app partner.App, sent AppChange) (oauthserver.AppChange, error) {
	if err := checkVersion(sent.Version.Value, app.Version); err != nil {
		return oauthserver.AppChange{}, err
	}
	v := new(apierror.Validation)
	notNull(v, "version", sent.Version)
	if isOther(sent.Type, string(app.Type)) {
		v.Add("type", "cannot be changed; create another app")
	}
	if isOther(sent.OrganizationID, app.OrganizationID) {
		v.Add("organizationId", "cannot be changed")
	}
	changed := oauthserver.AppChange{Name: notNull(v, "name", sent.Name), RedirectURIs: notNull(v, "redirectUris", sent.RedirectURIs)}
	if names := notNull(v, "scopes", sent.Scopes); names != nil {
		scopes := c.parseScopes(v, *names)
		changed.Scopes = &scopes
	}
	changed.AppURL = cleared(sent.AppURL, func(raw string) string { return c.appURL(v, raw) })
	changed.PinnedVersion = cleared(sent.PinnedVersion, func(name string) string { return c.version(v, name, app.PinnedVersion) })
	changed.CustomBusinessID = cleared(sent.CustomBusinessID, func(businessID string) string {
		if businessID == "" && c.cfg.OAuth.HasCustomConnections() {
			v.Add("customBusinessId", "must not be empty; null means none")
		}
		return businessID
	})
	if err := v.Include(c.cfg.OAuth.CheckChange(app.Type, changed)); err != nil {
		return oauthserver.AppChange{}, err
	}
	return changed, v.Err()
}

// isOther reports whether a member was sent with another value than the present one.
func isOther[T comparable](sent optional.Member[T], present T) bool {
	return sent.IsSent && (sent.Value == nil || *sent.Value != present)
}

// notNull returns the value of a member that cannot be taken away; nil when it was not
// sent.
func notNull[T any](v *apierror.Validation, name string, sent optional.Member[T]) *T {
	if sent.IsSent && sent.Value == nil {
		v.Add(name, "must not be null")
	}
	return sent.Value
}

// cleared returns the value of a member that null makes empty; nil when it was not sent.
func cleared(sent optional.Member[string], checked func(string) string) *string {
	switch {
	case !sent.IsSent:
		return nil
	case sent.Value == nil:
		return new(string)
	}
	value := checked(*sent.Value)
	return &value
}

// parseScopes adds a problem if a name is not a valid scope name. It then returns scopes
// that have no other problem.
func (c *Console) parseScopes(v *apierror.Validation, names []string) identity.Scopes {
	scopes, err := identity.NewScopes(names...)
	if err != nil {
		v.AddProblem(apierror.Problem{Path: "scopes", Text: "scopes: " + err.Error()})
		return c.cfg.OAuth.Scopes().Requestable()
	}
	return scopes
}

// appURL holds an App URL to the rules: the page is shown in a frame, and extensions
// lie on its origin.
func (c *Console) appURL(v *apierror.Validation, raw string) string {
	scheme, _, _ := strings.Cut(raw, ":")
	if strings.EqualFold(scheme, "http") && !c.cfg.AllowLoopback {
		v.Add("appUrl", "is not https")
	} else if problem := (oauthserver.RedirectRules{AllowQuery: true}).Problem(raw); problem != "" {
		v.Add("appUrl", "%s", problem)
	}
	return raw
}

// version checks that a pinned version is one of the served versions or the current pin.
func (c *Console) version(v *apierror.Validation, name, before string) string {
	versions := c.Versions()
	switch {
	case name == before && name != "":
	case len(versions) == 0:
		v.Add("pinnedVersion", "cannot be set: the API has no versions")
	case !slices.Contains(versions, name):
		v.Add("pinnedVersion", "must be one of %s", strings.Join(versions, ", "))
	}
	return name
}

// OffersCustomConnection reports whether the app can name a business for a custom connection.
func (c *Console) OffersCustomConnection(app partner.App) bool {
	return c.cfg.OAuth.HasCustomConnections() && app.Type == partner.Confidential
}

// ConnectionPage returns the URL of the page on which the business that the app names approves
// a custom connection.
func (c *Console) ConnectionPage(app partner.App) string { return c.cfg.OAuth.ConnectionPage(app) }
