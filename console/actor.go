package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Actor is somebody who is signed in, with the organizations that they make apps
// for. Only [Console.Actor] makes one.
type Actor struct {
	userID        string
	organizations []Organization
}

// UserID is the host's.
func (a Actor) UserID() string { return a.userID }

// Organizations are those that the actor is a member of.
func (a Actor) Organizations() []Organization { return slices.Clone(a.organizations) }

// isOf reports membership of an organization.
func (a Actor) isOf(organizationID string) bool {
	return slices.ContainsFunc(a.organizations, func(o Organization) bool { return o.ID == organizationID })
}

// organization is the one that an actor means: one of theirs, which goes without
// saying when there is only one. Whether any other exists is not told.
func (a Actor) organization(v *apierror.Validation, id string) string {
	switch {
	case id == "" && len(a.organizations) == 1:
		return a.organizations[0].ID
	case id == "" && len(a.organizations) > 1:
		v.Add("organizationId is required: you are a member of several organizations")
	case !a.isOf(id):
		v.Add("organizationId must be an organization that you are a member of")
	}
	return id
}

// Actor is who makes a request; an error of apierror, 401, when nobody is signed in,
// and 403 for a suspended user. An access token is no sign-in, and beside a session it
// is what counts.
func (c *Console) Actor(r *http.Request) (Actor, error) {
	for _, credentials := range r.Header.Values("Authorization") {
		if scheme, _, _ := strings.Cut(strings.TrimSpace(credentials), " "); strings.EqualFold(scheme, "Bearer") {
			return Actor{}, apierror.Unauthorized()
		}
	}
	session, ok, err := c.cfg.Host.Session(r)
	if err != nil {
		return Actor{}, err
	}
	if !ok {
		return Actor{}, apierror.Unauthorized()
	}
	status, err := c.cfg.Store.UserStatus(r.Context(), session.UserID)
	if err != nil {
		return Actor{}, err
	}
	if status == oauthserver.UserSuspended {
		return Actor{}, apierror.Forbidden("This account is suspended")
	}
	organizations, err := c.cfg.Host.Organizations(r.Context(), session.UserID)
	if err != nil {
		return Actor{}, err
	}
	// One without an id would be the owner of all apps that belong to nobody.
	organizations = slices.DeleteFunc(slices.Clone(organizations), func(o Organization) bool { return o.ID == "" })
	return Actor{userID: session.UserID, organizations: organizations}, nil
}

// App returns an app of one of the actor's organizations. Whatever else there is,
// or is not, is not found.
func (c *Console) App(ctx context.Context, by Actor, appID string) (oauthserver.App, error) {
	app, err := c.cfg.Store.App(ctx, appID)
	switch {
	case err != nil:
		return oauthserver.App{}, absent("app", err)
	case !by.isOf(app.OrganizationID):
		return oauthserver.App{}, apierror.NotFound("app")
	}
	return app, nil
}

// changeable is App for somebody who is about to change something of it.
func (c *Console) changeable(ctx context.Context, by Actor, appID string) (oauthserver.App, error) {
	app, err := c.App(ctx, by, appID)
	if err == nil && app.Status == oauthserver.AppDeactivated {
		err = apierror.New(apierror.AppDeactivated)
	}
	return app, err
}

// absent turns a feature's answer that there is no such thing into the 404 that it is.
func absent(what string, err error) error {
	if errors.Is(err, oauthserver.ErrNotFound) || errors.Is(err, webhooks.ErrNotFound) || errors.Is(err, appdata.ErrNotFound) {
		return apierror.NotFound(what)
	}
	return err
}
