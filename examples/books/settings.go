package books

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

type appsView struct {
	Business  string
	MayChange bool
	Apps      []appView
}

type appView struct {
	ID, ClientID, Name string
	Embedded           string // its page, when it has one
	Scopes             []string
	Since, LastUsed    time.Time
}

// showApps lists the apps that the business has connected.
func (s *Site) showApps(w http.ResponseWriter, r *http.Request, p person) error {
	if p.place.BusinessID == "" {
		http.Redirect(w, r, "/businesses", http.StatusSeeOther)
		return nil
	}
	installations, err := s.books.store.BusinessInstallations(r.Context(), p.place.BusinessID)
	if err != nil {
		return err
	}
	ids := make([]string, len(installations))
	for i, installation := range installations {
		ids[i] = installation.ID
	}
	used, err := s.platform.Analytics().LastUses(r.Context(), ids...)
	if err != nil {
		return err
	}
	data := appsView{Business: p.place.Business, MayChange: p.place.may(mayInstallApps)}
	for _, installation := range installations {
		app, err := s.books.store.App(r.Context(), installation.AppID)
		if err != nil {
			return err
		}
		shown := appView{
			ID: app.ID, ClientID: app.ClientID, Name: app.Name, Scopes: inPlainWords(installation.Scopes),
			Since: installation.CreatedAt, LastUsed: used[installation.ID],
		}
		if app.AppURL != "" && app.Type == oauthserver.Confidential && app.IsUsable() {
			shown.Embedded = "/embedded/" + url.PathEscape(app.ClientID)
		}
		data.Apps = append(data.Apps, shown)
	}
	return s.pages.show(w, http.StatusOK, "apps", View{
		Title: "Connected apps", Person: p.user.Name, Path: settingsPath, Notice: disconnected[r.URL.Query().Get("done")], Data: data,
	})
}

func inPlainWords(scopes identity.Scopes) []string {
	catalog := identity.DefaultScopes()
	words := make([]string, 0, scopes.Len())
	for name := range scopes.All() {
		if scope, ok := catalog.Lookup(name); ok {
			name = scope.Description
		}
		words = append(words, name)
	}
	return words
}

const settingsPath = "/settings/apps"

// disconnected has the notice of the page after an app was disconnected, by the value of
// done in the query.
var disconnected = map[string]string{
	string(audit.AccessRevoked): "The app has no access any more.",
	string(audit.Uninstalled):   "The app was uninstalled.",
}

// disconnect makes the handler of a button that ends an installation.
func (s *Site) disconnect(action audit.Action, end func(ctx context.Context, appID, businessID, userID string) error) http.Handler {
	return s.personal(func(w http.ResponseWriter, r *http.Request, p person) error {
		if !p.place.may(mayInstallApps) {
			return apierror.Forbidden("You do not have permission to disconnect apps from this business")
		}
		form, err := apierror.DecodeForm(r, apierror.FormLimits{})
		if err != nil {
			return err
		}
		app, err := s.App(r.Context(), form.Get("client_id"))
		if err != nil {
			return err
		}
		err = end(r.Context(), app.ID, p.place.BusinessID, p.user.ID)
		// Somebody else was faster: it is as they wanted it.
		if err != nil && !errors.Is(err, oauthserver.ErrNotFound) {
			return err
		}
		http.Redirect(w, r, settingsPath+"?"+url.Values{"done": {string(action)}}.Encode(), http.StatusSeeOther)
		return nil
	})
}
