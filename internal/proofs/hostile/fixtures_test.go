//go:build linux

package hostile_test

import (
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/seed"
)

// app is an app of the fixtures.
type app = seed.App

const (
	redirectURI = "http://localhost:9090/callback"
	scopes      = "profile:read events:read invoices:read invoices:write customers:read customers:write payments:write accounts:write journal:write suppliers:write"
)

// newFixtures returns the given number of apps, all of one organization, and of
// businesses. Each business has its own owner, who is also a member of the organization.
func newFixtures(apps, businesses int) seed.Data {
	f := seed.Data{Organizations: []seed.Organization{{ID: "org_1", Name: "One"}}}
	for i := range businesses {
		id := fmt.Sprintf("usr_%d", i)
		f.Users = append(f.Users, seed.User{ID: id, Email: fmt.Sprintf("u%d@example.com", i), Password: "password-of-" + id, Name: "Person"})
		f.Businesses = append(f.Businesses, seed.Business{
			ID: fmt.Sprintf("biz_%d", i), Name: "Business", Members: []seed.Member{{UserID: id, Role: "owner"}},
		})
		f.Organizations[0].Members = append(f.Organizations[0].Members, id)
	}
	for i := range apps {
		f.Apps = append(f.Apps, app{
			ID: fmt.Sprintf("app_%d", i), ClientID: fmt.Sprintf("client-%d", i), ClientSecret: seed.Optional(fmt.Sprintf("secret-of-client-%d", i)),
			Type: "CONFIDENTIAL", Name: "App", OrganizationID: "org_1", Reviewed: true, RedirectURIs: []string{redirectURI},
			Scopes:        seed.ScopeList{Scopes: identity.MustScopes(strings.Fields(scopes)...)},
			AppDataFields: []seed.Field{{ResourceType: "invoice", Key: "note", Type: "TEXT"}},
		})
	}
	return f
}
