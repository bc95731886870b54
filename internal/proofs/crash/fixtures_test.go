//go:build linux

package crash_test

import (
	"fmt"
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/seed"
)

const (
	theUser    = "usr_1"
	secret     = "secret-of-the-app"
	hookSecret = "whsec_of_all_receivers"
	callback   = "http://localhost:9/callback"
	// turnoverLimit of every business: what is left of it tells at the end what was
	// counted.
	turnoverLimit = 1_000_000_000
)

// app is an app of the fixtures.
type app = seed.App

// newApp adds an app to the fixtures; each hook is a receiver's name and its events.
func (w *fixture) newApp(name string, scopes []string, hooks ...[]string) *app {
	a := &app{
		ID: "app_" + name, ClientID: name, ClientSecret: secret, Type: "CONFIDENTIAL", Name: name, OrganizationID: "org_1", Reviewed: true,
		RedirectURIs: []string{callback}, Scopes: seed.ScopeList{Scopes: identity.MustScopes(scopes...)},
	}
	for _, h := range hooks {
		a.Webhooks = append(a.Webhooks, seed.Webhook{ID: "whk_" + h[0], URL: w.receiver.URL + "/" + h[0], Secret: hookSecret, Events: h[1:]})
	}
	w.apps = append(w.apps, a)
	return a
}

// writeFixtures writes the file that the servers load.
func (w *fixture) writeFixtures(t *testing.T) string {
	t.Helper()
	data := seed.Data{
		Organizations: []seed.Organization{{ID: "org_1", Name: "Makers", Members: []string{theUser}}},
		Users:         []seed.User{{ID: theUser, Email: "one@example.com", Password: "password-of-one", Name: "One"}},
	}
	for i, id := range w.businesses {
		data.Businesses = append(data.Businesses, seed.Business{
			ID: id, Name: fmt.Sprintf("Business %d", i), Plan: "FREE", TurnoverLimit: new(int64(turnoverLimit)),
			Members: []seed.Member{{UserID: theUser, Role: "owner"}},
		})
	}
	for _, a := range w.apps {
		data.Apps = append(data.Apps, *a)
	}
	if w.abandoned != nil {
		data.Apps = append(data.Apps, *w.abandoned)
	}
	return servertest.WriteFixtures(t, data)
}
