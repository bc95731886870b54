//go:build linux

package crash_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
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
type app struct {
	ID             string   `json:"id"`
	ClientID       string   `json:"clientId"`
	ClientSecret   string   `json:"clientSecret"`
	Type           string   `json:"type"`
	Name           string   `json:"name"`
	OrganizationID string   `json:"organizationId"`
	Reviewed       bool     `json:"reviewed"`
	RedirectURIs   []string `json:"redirectUris"`
	Scopes         []string `json:"scopes"`
	Webhooks       []hook   `json:"webhooks,omitempty"`
	Fields         []field  `json:"appDataFields,omitempty"`
}

type hook struct {
	ID     string   `json:"id"`
	URL    string   `json:"url"`
	Secret string   `json:"secret"`
	Events []string `json:"events"`
}

type field struct {
	ResourceType string `json:"resourceType"`
	Key          string `json:"key"`
	Type         string `json:"type"`
}

// newApp adds an app to the fixtures; each hook is a receiver's name and its events.
func (w *world) newApp(name string, scopes []string, hooks ...[]string) *app {
	a := &app{
		ID: "app_" + name, ClientID: name, ClientSecret: secret, Type: "CONFIDENTIAL", Name: name, OrganizationID: "org_1", Reviewed: true,
		RedirectURIs: []string{callback}, Scopes: scopes,
	}
	for _, h := range hooks {
		a.Webhooks = append(a.Webhooks, hook{ID: "whk_" + h[0], URL: w.receiver.URL + "/" + h[0], Secret: hookSecret, Events: h[1:]})
	}
	w.apps = append(w.apps, a)
	return a
}

// writeFixtures writes what the servers load.
func (w *world) writeFixtures(t *testing.T) string {
	t.Helper()
	businesses := make([]map[string]any, len(w.businesses))
	for i, id := range w.businesses {
		businesses[i] = map[string]any{
			"id": id, "name": fmt.Sprintf("Business %d", i), "plan": "FREE", "turnoverLimit": turnoverLimit,
			"members": []any{map[string]any{"userId": theUser, "role": "owner"}},
		}
	}
	data, err := json.Marshal(map[string]any{
		"organizations": []any{map[string]any{"id": "org_1", "name": "Makers", "members": []string{theUser}}},
		"users":         []any{map[string]any{"id": theUser, "email": "one@example.com", "password": "password-of-one", "name": "One"}},
		"businesses":    businesses,
		"apps":          w.apps,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
