package consent

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// connection is an app that a person may connect to some of their businesses.
type connection struct {
	server     *Server
	app        partner.App
	wish       wish
	userID     string
	trust      hostTrust
	businesses []core.Business
}

// connection asks the host and its policy what this user may do. It runs for the page and
// again for the decision.
func (s *Server) connection(ctx context.Context, app partner.App, session identity.Session, w wish) (connection, error) {
	status, err := s.cfg.Store.UserStatus(ctx, session.UserID)
	if err != nil {
		return connection{}, err
	}
	if status != identity.UserActive {
		return connection{}, errPermission
	}
	c := connection{server: s, app: app, wish: w, userID: session.UserID}
	if c.trust, err = s.vouch(ctx, app, w, session.UserID); err != nil {
		return connection{}, err
	}
	c.businesses, err = s.businesses(ctx, session.UserID)
	return c, err
}

// businesses returns the businesses of a user, with names that can be shown.
func (s *Server) businesses(ctx context.Context, userID string) ([]core.Business, error) {
	businesses, err := s.cfg.Host.Businesses(ctx, userID)
	businesses = slices.Clone(businesses)
	for i := range businesses {
		businesses[i].Name = text.Line(businesses[i].Name)
	}
	return businesses, err
}

// check returns the error page if the app cannot be connected to the business, and nil if
// it can.
func (c connection) check(b core.Business) error {
	switch {
	case !b.MayConnect:
		return errPermission
	case !c.server.mayConnectTo(c.app, b, c.wish, c.trust):
		return errReview
	}
	return nil
}

// eligible returns the businesses to choose from; with none it is an error that says
// why.
func (c connection) eligible() ([]core.Business, error) {
	var eligible []core.Business
	refusal := errPermission
	for _, b := range c.businesses {
		switch err := c.check(b); {
		case err == nil:
			eligible = append(eligible, b)
		case b.MayConnect:
			refusal = err
		}
	}
	if len(eligible) == 0 {
		return nil, refusal
	}
	return eligible, nil
}

// missing returns the businesses that eligible leaves out.
func (c connection) missing() []pages.MissingBusiness {
	var missing []pages.MissingBusiness
	for _, b := range c.businesses {
		switch {
		case !b.MayConnect:
			missing = append(missing, pages.MissingBusiness{Name: b.Name, Reason: pages.PermissionRequired})
		case !c.server.mayConnectTo(c.app, b, c.wish, c.trust):
			missing = append(missing, pages.MissingBusiness{Name: b.Name, Reason: pages.ReviewRequired})
		}
	}
	return missing
}

// shown returns the app as the page shows it: as it is now if the host vouches for it or if
// all the businesses to choose from are sandboxes of its own, and otherwise as it was reviewed.
func (c connection) shown(choice ...core.Business) partner.App {
	isReal := func(b core.Business) bool { return !isOwnSandbox(c.app, b, c.trust) }
	if c.trust.reviewed || len(choice) > 0 && !slices.ContainsFunc(choice, isReal) {
		return c.app
	}
	return asReviewed(c.app)
}

// business returns the one with that id, if the app can be connected there.
func (c connection) business(id string) (core.Business, error) {
	i := slices.IndexFunc(c.businesses, func(b core.Business) bool { return b.ID == id })
	if i < 0 {
		return core.Business{}, errPermission
	}
	return c.businesses[i], c.check(c.businesses[i])
}

// showConsent asks whether the app may be connected, and where.
func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, session identity.Session, request storedRequest) error {
	c, err := s.connection(r.Context(), request.app, session, request.wish())
	if err != nil {
		return err
	}
	eligible, err := c.eligible()
	if err != nil {
		err = s.withGap(r.Context(), c, err)
		return &refusal{err: err, app: c.shown().Name, visitor: visitor{session, request.resumeAt()}, missing: c.missing()}
	}
	c.app = c.shown(eligible...)
	token, err := s.csrfToken(csrfBinding{session: session, subject: request.secret.Reveal()})
	if err != nil {
		return err
	}
	view, err := s.consentView(r, visitor{session, request.resumeAt()}, c, request.Scopes)
	if err != nil {
		return err
	}
	view.Action, view.Missing = authorizePath, c.missing()
	if slices.ContainsFunc(view.Missing, func(m pages.MissingBusiness) bool { return m.Reason == pages.ReviewRequired }) {
		if view.Gap, err = s.gap(r.Context(), c); err != nil {
			return err
		}
	}
	view.ReturnsTo = returnsTo(request.RedirectURI)
	view.Hidden = []pages.HiddenField{{Name: requestField, Value: request.secret.Reveal()}, {Name: csrfField, Value: token}}
	for _, b := range eligible {
		view.Businesses = append(view.Businesses, businessView(b, b.ID == session.BusinessID || len(eligible) == 1))
	}
	if err := s.markNew(r.Context(), view, request.app, request.Scopes); err != nil {
		return err
	}
	allowRedirect(w.Header(), r, request.RedirectURI)
	return s.cfg.Pages.Consent(w, r, view)
}

// consentView returns the view of the consent page about an app, for any flow.
func (s *Server) consentView(r *http.Request, v visitor, c connection, scopes identity.Scopes) (pages.ConsentView, error) {
	app := c.app
	listing, err := s.listing(r.Context(), app)
	if err != nil {
		return pages.ConsentView{}, err
	}
	view := pages.ConsentView{Frame: s.frame(r, v), AppName: app.Name, Listing: listing, Unreviewed: !app.Reviewed && !c.trust.reviewed}
	if app.Origin == partner.OriginDocument {
		if u, err := url.Parse(app.ClientID); err == nil {
			view.ClientHost = u.Host
		}
		view.LocalOnly = !slices.ContainsFunc(app.RedirectURIs, func(raw string) bool {
			isUsable := c.trust.reviewed || !app.Reviewed || slices.Contains(app.ReviewedAs.RedirectURIs, raw)
			return isUsable && !uri.IsLocal(raw)
		})
	}
	view.Scopes = s.scopeViews(view.Language, scopes)
	return view, nil
}

func businessView(b core.Business, selected bool) pages.BusinessView { //nolint:revive // the value, not a switch
	return pages.BusinessView{ID: b.ID, Name: b.Name, Sandbox: b.SandboxOf != "", Selected: selected}
}

// mostMarked is among how many businesses the page says of each what is new. Of more it says so of
// the selected one.
const mostMarked = 12

// markNew says of the businesses of a view whether the app is connected there already, and what
// it would be allowed beside what it may do.
func (s *Server) markNew(ctx context.Context, view pages.ConsentView, app partner.App, scopes identity.Scopes) error {
	for i := range view.Businesses {
		b := &view.Businesses[i]
		if !b.Selected && len(view.Businesses) > mostMarked {
			continue
		}
		installed, err := s.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: app.ID, BusinessID: b.ID, Limit: 1})
		if err != nil {
			return err
		}
		if len(installed) == 0 {
			continue
		}
		b.IsConnected = true
		b.New = slices.DeleteFunc(s.scopeViews(view.Language, scopes), func(v pages.ScopeView) bool { return installed[0].Scopes.Has(v.Name) })
	}
	return nil
}
