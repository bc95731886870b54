package console

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// Actor is a signed-in user, or a script with a console token, with the organizations
// that the user or script makes apps for. Only authentication creates an Actor.
type Actor struct {
	userID        string
	name          string
	organizations []Organization
	token         string // the name of the console token; empty: the user is signed in
}

// UserID returns the id of the user, as the host has it.
func (a Actor) UserID() string { return a.userID }

// Name returns the display name of the session; it may be empty.
func (a Actor) Name() string { return a.name }

// Organizations returns the organizations of the actor.
func (a Actor) Organizations() []Organization { return slices.Clone(a.organizations) }

// isOf reports membership of an organization.
func (a Actor) isOf(organizationID string) bool {
	return slices.ContainsFunc(a.organizations, func(o Organization) bool { return o.ID == organizationID })
}

// organization returns the id of the actor's organization that a request names. The id may
// be empty if the actor has only one. The error for an id of another organization does not
// reveal whether that organization exists.
func (a Actor) organization(v *apierror.Validation, id string) string {
	switch {
	case id == "" && len(a.organizations) == 1:
		return a.organizations[0].ID
	case id == "" && len(a.organizations) > 1:
		v.Add("organizationId", "is required: you are a member of several organizations")
	case !a.isOf(id):
		v.Add("organizationId", "must be an organization that you are a member of")
	}
	return id
}

// Actor returns the signed-in user who makes a request. Its error is one of apierror: 401
// if no user is signed in, and 403 if the user is suspended. A request with a bearer token
// is rejected with 401, even if it also has a session.
func (c *Console) Actor(r *http.Request) (Actor, error) {
	if _, sent := header.Authorization(r.Header, "Bearer"); sent {
		return Actor{}, apierror.Unauthorized()
	}
	session, ok, err := c.cfg.Host.Session(r)
	if err != nil {
		return Actor{}, err
	}
	if !ok {
		return Actor{}, apierror.Unauthorized()
	}
	return c.actor(r.Context(), session.UserID, session.DisplayName)
}

// actor returns a user who is not suspended, with the organizations that the host knows.
func (c *Console) actor(ctx context.Context, userID, name string) (Actor, error) {
	status, err := c.cfg.Store.UserStatus(ctx, userID)
	if err != nil {
		return Actor{}, err
	}
	if status == identity.UserSuspended {
		return Actor{}, apierror.Forbidden("This account is suspended")
	}
	organizations, err := c.cfg.Host.Organizations(ctx, userID)
	if err != nil {
		return Actor{}, err
	}
	// An organization without an id would own all apps that have no organization.
	organizations = slices.DeleteFunc(slices.Clone(organizations), func(o Organization) bool { return o.ID == "" })
	for i := range organizations {
		organizations[i].Name = text.Line(organizations[i].Name)
	}
	return Actor{userID: userID, name: text.Line(name), organizations: organizations}, nil
}

// App returns an app of one of the actor's organizations. For any other id, whether an app
// has it or not, its error is the same 404.
func (c *Console) App(ctx context.Context, by Actor, appID string) (partner.App, error) {
	app, err := c.cfg.Store.App(ctx, appID)
	switch {
	case err != nil:
		return partner.App{}, absent("app", err)
	case !by.isOf(app.OrganizationID):
		return partner.App{}, apierror.NotFound("app")
	}
	return app, nil
}

// changeable refuses an actor who may not change the app, before work that takes long. The
// change itself is decided by [Console.changeApp].
func (c *Console) changeable(ctx context.Context, by Actor, appID string) (partner.App, error) {
	app, err := c.cfg.Store.App(ctx, appID)
	if err != nil {
		return partner.App{}, absent("app", err)
	}
	return app, by.mayChange(app)
}

// mayChange returns the error for an app that the actor cannot change: 404 if it is not of the
// actor's organizations, or that it is deactivated.
func (a Actor) mayChange(app partner.App) error {
	if !a.isOf(app.OrganizationID) {
		return apierror.NotFound("app")
	}
	return checkWritable(app)
}

// checkWritable returns the error for an app that is deactivated, and therefore read-only.
func checkWritable(app partner.App) error {
	if app.Status == partner.AppDeactivated {
		return codes.AppDeactivated.New()
	}
	return nil
}

// absent converts the not-found errors of the features into a 404.
func absent(what string, err error) error {
	if errors.Is(err, partner.ErrNotFound) || errors.Is(err, partner.ErrNotFound) || errors.Is(err, partner.ErrNotFound) {
		return apierror.NotFound(what)
	}
	return err
}
