package consent

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// Paths of the page of connected apps on the app host.
const (
	connectedAppsPath = "/settings/apps"
	revokeAccessPath  = connectedAppsPath + "/revoke-access"
	uninstallPath     = connectedAppsPath + "/uninstall"
	takeOverPath      = connectedAppsPath + "/take-over"
)

func (s *Server) connectedAppsRoutes() map[string]apierror.Handler {
	if s.cfg.ConnectedApps.Omit {
		return nil
	}
	return map[string]apierror.Handler{
		"GET " + connectedAppsPath: s.serveConnectedApps,
		"POST " + revokeAccessPath: s.serveDisconnect(audited.AccessRevoked, s.RevokeAccess),
		"POST " + uninstallPath:    s.serveDisconnect(audited.Uninstalled, s.Uninstall),
		"POST " + takeOverPath:     s.serveTakeOver,
	}
}

// member is a person who is signed in to a business.
type member struct {
	session  identity.Session
	business core.Business
}

// member returns the signed-in user and the current business. If either is missing, it has
// written the response and reports false.
func (s *Server) member(w http.ResponseWriter, r *http.Request) (member, bool, error) {
	session, ok, err := s.signedIn(w, r, connectedAppsPath)
	if err != nil || !ok {
		return member{}, false, err
	}
	status, err := s.cfg.Store.UserStatus(r.Context(), session.UserID)
	switch {
	case err != nil:
		return member{}, false, err
	case status == identity.UserSuspended:
		return member{}, false, about(partner.App{}, visitor{session, connectedAppsPath}, errSuspended)
	}
	businesses, err := s.businesses(r.Context(), session.UserID)
	if err != nil {
		return member{}, false, err
	}
	i := slices.IndexFunc(businesses, func(b core.Business) bool { return b.ID == session.BusinessID })
	switch {
	case session.BusinessID != "" && i >= 0:
		return member{session, businesses[i]}, true, nil
	case s.cfg.BusinessPath == "":
		return member{}, false, errNoBusiness
	}
	http.Redirect(w, r, s.cfg.BusinessPath, http.StatusSeeOther)
	return member{}, false, nil
}

// serveConnectedApps lists the apps that the business has connected.
func (s *Server) serveConnectedApps(w http.ResponseWriter, r *http.Request) error {
	m, ok, err := s.member(w, r)
	if err != nil || !ok {
		return err
	}
	installations, err := s.cfg.Store.Installations(r.Context(), partner.InstallationQuery{BusinessID: m.business.ID})
	if err != nil {
		return err
	}
	used, err := s.lastUses(r.Context(), installations)
	if err != nil {
		return err
	}
	view := pages.ConnectedAppsView{
		Frame: s.frame(r, visitor{session: m.session}), Path: connectedAppsPath,
		Business: m.business.Name, BusinessPath: s.cfg.BusinessPath, MayChange: m.business.MayConnect,
		ShowsUse: s.cfg.ConnectedApps.LastUses != nil, RevokeAction: revokeAccessPath, UninstallAction: uninstallPath, TakeOverAction: takeOverPath,
		RedactHours: max(1, int(s.cfg.Lifetimes.RedactDelay.Hours())),
	}
	switch done := audit.Action(r.URL.Query().Get("done")); done {
	case audited.AccessRevoked, audited.Uninstalled, audited.ConnectionTakenOver:
		view.Done = done
	}
	connected, err := s.connectedBy(r.Context(), m)
	if err != nil {
		return err
	}
	custom, err := s.customConnections(r.Context(), installations)
	if err != nil {
		return err
	}
	for _, installation := range installations {
		app, err := s.connectedApp(r.Context(), installation, m.business)
		if err != nil {
			return err
		}
		if grant, ok := custom[installation.ID]; ok {
			app.IsCustom, app.Permissions = true, permissionViews(view.Language, grant.Permissions)
		}
		by := connected[installation.ID]
		app.ConnectedBy, app.IsOrphaned = by.names, app.IsOrphaned && by.hasLeft && m.business.MayConnect
		app.Scopes, app.LastUsedAt = s.scopeViews(view.Language, installation.Scopes), used[installation.ID]
		view.Apps = append(view.Apps, app)
	}
	w.Header().Set("Referrer-Policy", "same-origin") // a host may check the Origin of its sign-out form
	return s.cfg.Pages.ConnectedApps(w, r, view)
}

// connectedBy is who connected an app: the names of members of the business, in the order in
// which they did, and whether somebody else did who has left it.
type connectedBy struct {
	names   []string
	hasLeft bool
}

// connectedBy returns who connected the apps of the business, by the ids of installations.
func (s *Server) connectedBy(ctx context.Context, m member) (map[string]connectedBy, error) {
	nameOf := s.cfg.ConnectedApps.PersonName
	if nameOf == nil && !m.business.MayConnect {
		return nil, nil
	}
	grants, err := s.cfg.Store.Grants(ctx, m.business.ID, "")
	if err != nil {
		return nil, err
	}
	all, isMember, names := map[string]connectedBy{}, map[string]bool{m.session.UserID: true}, map[string]string{}
	for _, g := range grants {
		if _, known := isMember[g.UserID]; !known {
			if isMember[g.UserID], err = s.IsMember(ctx, m.business.ID, g.UserID); err != nil {
				return nil, err
			}
		}
		by := all[g.InstallationID]
		if !isMember[g.UserID] {
			by.hasLeft = true
			all[g.InstallationID] = by
			continue
		}
		name, known := names[g.UserID]
		if !known && nameOf != nil {
			if name, err = nameOf(ctx, g.UserID); err != nil {
				return nil, err
			}
			names[g.UserID] = text.Line(name)
		}
		if name = names[g.UserID]; name != "" && !slices.Contains(by.names, name) {
			by.names = append(by.names, name)
		}
		all[g.InstallationID] = by
	}
	return all, nil
}

func (s *Server) lastUses(ctx context.Context, installations []partner.Installation) (map[string]time.Time, error) {
	if s.cfg.ConnectedApps.LastUses == nil || len(installations) == 0 {
		return nil, nil
	}
	ids := make([]string, len(installations))
	for i, installation := range installations {
		ids[i] = installation.ID
	}
	return s.cfg.ConnectedApps.LastUses(ctx, ids...)
}

// customConnections returns the custom connections of installations by the ids of these.
func (s *Server) customConnections(ctx context.Context, installations []partner.Installation) (map[string]oauthstore.Grant, error) {
	if !s.cfg.CustomConnections {
		return nil, nil
	}
	ids := make([]string, len(installations))
	for i, installation := range installations {
		ids[i] = installation.ID
	}
	grants, err := s.cfg.Store.CustomConnections(ctx, ids...)
	custom := make(map[string]oauthstore.Grant, len(grants))
	for _, grant := range grants {
		custom[grant.InstallationID] = grant
	}
	return custom, err
}

// connectedApp returns the app of an installation as people in the business see it, without its
// scopes and its use. Its IsOrphaned says whether its connection could be taken over if the
// person who made it had left.
func (s *Server) connectedApp(ctx context.Context, installation partner.Installation, in core.Business) (pages.ConnectedApp, error) {
	app, err := s.cfg.Store.App(ctx, installation.AppID)
	if err != nil {
		return pages.ConnectedApp{}, err
	}
	if app, err = s.shownIn(ctx, app, in); err != nil {
		return pages.ConnectedApp{}, err
	}
	listing, err := s.listing(ctx, app)
	if err != nil {
		return pages.ConnectedApp{}, err
	}
	shown := pages.ConnectedApp{ID: app.ID, ClientID: app.ClientID, Name: app.Name, Listing: listing, ConnectedAt: installation.CreatedAt, IsOrphaned: app.Type == partner.Confidential && app.IsUsable()}
	if s.cfg.ConnectedApps.OpenPath != nil {
		shown.OpenPath = s.cfg.ConnectedApps.OpenPath(app)
	}
	return shown, nil
}

// serveDisconnect makes the handler of a button that ends an installation.
func (s *Server) serveDisconnect(action audit.Action, end func(ctx context.Context, appID, businessID, userID string) error) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		m, ok, err := s.member(w, r)
		if err != nil || !ok {
			return err
		}
		if !m.business.MayConnect {
			return errDisconnect
		}
		form, err := bodies.DecodeForm(r, bodies.FormLimits{})
		if err != nil {
			return err
		}
		clientID := form.Get("client_id")
		if clientID == "" {
			return invalid("client_id", "is missing")
		}
		app, err := s.AppByClientID(r.Context(), clientID)
		if errors.Is(err, partner.ErrNotFound) {
			return apierror.NotFound("client " + clientID)
		}
		if err != nil {
			return err
		}
		// It is not an error if another user has already ended the installation.
		if err := end(r.Context(), app.ID, m.business.ID, m.session.UserID); err != nil && !errors.Is(err, partner.ErrNotFound) {
			return err
		}
		http.Redirect(w, r, connectedAppsPath+"?"+url.Values{"done": {string(action)}}.Encode(), http.StatusSeeOther)
		return nil
	}
}
