package console

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver"
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

// isOf reports membership of an organization. Nobody is a member of none.
func (a Actor) isOf(organizationID string) bool {
	return organizationID != "" && slices.ContainsFunc(a.organizations, func(o Organization) bool { return o.ID == organizationID })
}

// Actor is who makes a request; an error of apierror, 401, when nobody is signed
// in.
func (c *Console) Actor(r *http.Request) (Actor, error) {
	session, ok, err := c.cfg.Host.Session(r)
	if err != nil {
		return Actor{}, err
	}
	if !ok {
		return Actor{}, apierror.Unauthorized()
	}
	organizations, err := c.cfg.Host.Organizations(r.Context(), session.UserID)
	if err != nil {
		return Actor{}, err
	}
	return Actor{userID: session.UserID, organizations: organizations}, nil
}

// App returns an app of one of the actor's organizations. Whatever else there is,
// or is not, is not found.
func (c *Console) App(ctx context.Context, by Actor, appID string) (oauthserver.App, error) {
	app, err := c.cfg.Store.App(ctx, appID)
	switch {
	case errors.Is(err, oauthserver.ErrNotFound), err == nil && !by.isOf(app.OrganizationID):
		return oauthserver.App{}, apierror.NotFound("the app")
	case err != nil:
		return oauthserver.App{}, err
	}
	return app, nil
}
