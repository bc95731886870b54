package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// keptCases test which apps are purged, and that what is kept can be read.
var keptCases = []testCase[partnerkit.Store]{
	// APP-01: the document of such an app would make it active again.
	{"An app of a document that is not active is not purged", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for _, status := range []partner.AppStatus{partner.AppSuspended, partner.AppDeactivated} {
			app := f.app
			app.ID, app.ClientID, app.Origin, app.DocumentFetchedAt = id.New(id.App, noon), id.New(id.Client, noon), partner.OriginDocument, noon
			must(t, fixture.AddApp(t.Context(), e, app))
			must(t, fixture.SetAppStatus(t.Context(), e, app.ID, status))
			get[int](t)(purge(e, storage.PurgeOAuth)(t.Context(), noon.Add(365*24*time.Hour), 10))
			if got, err := e.App(t.Context(), app.ID); err != nil || got.Status != status {
				t.Errorf("%s: %q, %v", status, got.Status, err)
			}
		}
	}},
	// AZ-13: approvals add up to more scopes than one request can name, after the host's catalog
	// has changed. The installation still works and can be ended.
	{"An installation may have more scopes than a request", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		var granted identity.Scopes
		for part := range 3 {
			var names []string
			for i := range 60 {
				names = append(names, fmt.Sprintf("part%d:%d", part, i))
			}
			scopes := identity.MustScopes(names...)
			granted = granted.Union(scopes)
			f.app = get[partner.App](t)(e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
				a.Scopes = scopes
				return a, nil
			}))
			f.codeFor(t, scopes)
		}
		installed := get[[]partner.Installation](t)(e.Installations(t.Context(), partner.InstallationQuery{AppID: f.app.ID, Limit: 10}))
		if len(installed) != 1 || !installed[0].Scopes.Equal(granted) {
			t.Errorf("installations %v, want one with %d scopes", installed, granted.Len())
		}
		must(t, f.end(t, partner.InstallationRemoved))
	}},
	{"Unconnected registrations are purged", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for i, connected := range []bool{true, false, false} {
			app := f.app
			app.ID, app.ClientID, app.Origin = id.New(id.App, noon), id.New(id.Client, noon), partner.OriginRegistered
			if i == 2 {
				app.Origin, app.DocumentFetchedAt = partner.OriginDocument, noon
			}
			must(t, fixture.AddApp(t.Context(), e, app))
			g := *f
			g.app = app
			if connected {
				g.code(t)
			}
			get[int](t)(purge(e, storage.PurgeOAuth)(t.Context(), noon.Add(31*24*time.Hour), 10))
			if _, err := e.App(t.Context(), app.ID); (err == nil) != connected {
				t.Errorf("connected %v: %v", connected, err)
			}
		}
	}},
}
