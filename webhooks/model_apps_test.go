package webhooks_test

import (
	"fmt"
	"slices"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// link picks an app and a business, connected or not.
func (m *model) link(connected bool) (app, b int, ok bool) { //nolint:revive // which of the two
	for range 10 {
		app, b = m.dice(modelApps), m.dice(modelBusinesses)
		if connected == (m.settings.links[app][b].born.order != 0) {
			return app, b, true
		}
	}
	return 0, 0, false
}

func (m *model) uninstall() string {
	app, b, ok := m.link(true)
	if !ok {
		return ""
	}
	now, e := m.clock.Now(), m.eventFor(kindUninstalled, app, b)
	_, err := m.EndInstallation(m.t.Context(), oauthstore.EndInstallation{
		AppID: m.apps[app].ID, BusinessID: business(b), Status: partner.InstallationRemoved, Now: now, RedactAt: now.Add(lifetimes.RedactDelay),
		Record: func(partner.Installation) []partner.Event { return []partner.Event{e} },
	})
	m.must(err)
	m.become(func(w *settings) { w.links[app][b] = modelLink{} })
	m.happened(e, kindUninstalled, b, app)
	return fmt.Sprintf("uninstall app %d from %s", app, business(b))
}

func (m *model) install() string {
	app, b, ok := m.link(false)
	if !ok {
		return ""
	}
	e, scopes := m.eventFor(kindInstalled, app, b), allScopes
	if m.dice(3) == 0 {
		scopes = scopeSet(1 + m.dice(int(allScopes)))
	}
	_, _, err := fixture.Approve(m.t.Context(), m, fixture.Consent{
		App: m.apps[app].App, BusinessID: business(b), UserID: "usr_1", Scopes: scopes.scopes(), Now: m.clock.Now(), Events: []partner.Event{e},
	})
	m.must(err)
	m.become(func(w *settings) { w.links[app][b] = modelLink{m.birth(), scopes} })
	m.happened(e, kindInstalled, b, app)
	return fmt.Sprintf("install app %d in %s with scopes %04b", app, business(b), scopes)
}

// someScopes narrows or widens.
func (m *model) someScopes() scopeSet {
	if m.dice(2) == 0 {
		return allScopes
	}
	return scopeSet(m.dice(int(allScopes)))
}

func (m *model) scopeApp() string {
	app, scopes := m.dice(modelApps), m.someScopes()
	_, err := m.UpdateApp(m.t.Context(), m.apps[app].ID, func(a partner.App) (partner.App, error) {
		a.Scopes = scopes.scopes()
		return a, nil
	})
	m.must(err)
	m.become(func(w *settings) { w.apps[app].scopes = scopes })
	return fmt.Sprintf("app %d has scopes %04b", app, scopes)
}

func (m *model) scopeLink() string {
	app, b, ok := m.link(true)
	if !ok {
		return ""
	}
	scopes, e := m.someScopes(), m.eventFor(kindScopesUpdated, app, b)
	_, err := m.SetInstallationScopes(m.t.Context(), m.apps[app].ID, business(b), scopes.scopes(), func(_, _ partner.Installation) []partner.Event { return []partner.Event{e} })
	m.must(err)
	m.become(func(w *settings) { w.links[app][b].scopes = scopes })
	m.happened(e, kindScopesUpdated, b, app)
	return fmt.Sprintf("app %d has scopes %04b in %s", app, scopes, business(b))
}

// setStatus suspends an app or lifts a suspension, which is usually short.
func (m *model) setStatus() string {
	app, status := m.dice(modelApps), partner.AppSuspended
	if i := slices.IndexFunc(m.settings.apps[:], func(a modelApp) bool { return a.status == partner.AppSuspended }); i >= 0 && m.dice(4) > 0 {
		app = i
	}
	switch m.settings.apps[app].status {
	case partner.AppDeactivated:
		return ""
	case partner.AppSuspended:
		status = partner.AppActive
	}
	if m.dice(20) == 0 {
		status = partner.AppDeactivated
	}
	m.must(fixture.SetAppStatus(m.t.Context(), m, m.apps[app].ID, status))
	m.become(func(w *settings) { w.apps[app].status = status })
	return fmt.Sprintf("app %d is %s", app, status)
}

func (m *model) pin() string {
	app, version := m.dice(modelApps), []string{"", "2026-01-15"}[m.dice(2)]
	m.harness.pin(m.apps[app], version)
	m.become(func(w *settings) { w.apps[app].version = version })
	return fmt.Sprintf("app %d has pinned %q", app, version)
}
