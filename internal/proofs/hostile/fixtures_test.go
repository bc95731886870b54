//go:build linux

package hostile_test

import "fmt"

// fixtures are the data of a server, in the form of its -fixtures.
type fixtures struct {
	Organizations []organization `json:"organizations"`
	Users         []user         `json:"users"`
	Businesses    []business     `json:"businesses"`
	Apps          []app          `json:"apps"`
}

type organization struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []string `json:"members"`
}

type user struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password"`
	Name     string `json:"name"`
}

type business struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []member `json:"members"`
}

type member struct {
	UserID string `json:"userId"`
	Role   string `json:"role"`
}

type app struct {
	ID             string    `json:"id"`
	ClientID       string    `json:"clientId"`
	ClientSecret   string    `json:"clientSecret"`
	Type           string    `json:"type"`
	Name           string    `json:"name"`
	OrganizationID string    `json:"organizationId"`
	Reviewed       bool      `json:"reviewed"`
	RedirectURIs   []string  `json:"redirectUris"`
	Scopes         string    `json:"scopes"`
	Webhooks       []webhook `json:"webhooks"`
	AppDataFields  []field   `json:"appDataFields"`
}

type webhook struct {
	ID     string   `json:"id"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Secret string   `json:"secret"`
}

type field struct {
	ResourceType string `json:"resourceType"`
	Key          string `json:"key"`
	Type         string `json:"type"`
}

const (
	redirectURI = "http://localhost:9090/callback"
	scopes      = "profile:read events:read invoices:read invoices:write customers:read customers:write payments:write accounts:write journal:write suppliers:write"
)

// newFixtures has so many apps, all of one organization, and businesses, each with an
// owner of its own, who is also of the organization.
func newFixtures(apps, businesses int) fixtures {
	f := fixtures{Organizations: []organization{{ID: "org_1", Name: "One"}}}
	for i := range businesses {
		id := fmt.Sprintf("usr_%d", i)
		f.Users = append(f.Users, user{id, fmt.Sprintf("u%d@example.com", i), "password-of-" + id, "Person"})
		f.Businesses = append(f.Businesses, business{fmt.Sprintf("biz_%d", i), "Business", []member{{id, "owner"}}})
		f.Organizations[0].Members = append(f.Organizations[0].Members, id)
	}
	for i := range apps {
		f.Apps = append(f.Apps, app{
			ID: fmt.Sprintf("app_%d", i), ClientID: fmt.Sprintf("client-%d", i), ClientSecret: fmt.Sprintf("secret-of-client-%d", i), Type: "CONFIDENTIAL", Name: "App",
			OrganizationID: "org_1", Reviewed: true, RedirectURIs: []string{redirectURI}, Scopes: scopes,
			AppDataFields: []field{{"invoice", "note", "TEXT"}},
		})
	}
	return f
}
