package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

const smallFixtures = `{
	"users": [{"id": "usr_1", "email": "one@example.com", "password": "first", "name": "One"}],
	"organizations": [{"id": "org_1", "name": "O", "members": ["usr_1"]}],
	"businesses": [{"id": "biz_1", "name": "Only Business", "members": [{"userId": "usr_1", "role": "owner"}]}],
	"apps": [{"id": "app_1", "clientId": "with-secret", "clientSecret": "s3cret", "type": "CONFIDENTIAL", "name": "A", "organizationId": "org_1", "reviewed": true, "redirectUris": ["https://a.example/cb"], "scopes": ["invoices:read"]},
		{"id": "app_2", "clientId": "made-secret", "type": "CONFIDENTIAL", "name": "B", "organizationId": "org_1", "reviewed": true, "redirectUris": [], "scopes": []}]
}`

func TestFixturesAreLoadedOnce(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "books.db")
	first := start(t, "-db", db, "-fixtures", file(t, "small.json", smallFixtures))
	first.signIn("one@example.com", "first")
	introspect := request(t, http.MethodPost, first.api+"/oauth/introspect", "application/x-www-form-urlencoded", "token=x")
	introspect.SetBasicAuth("with-secret", "s3cret")
	do(t, http.DefaultClient, introspect).want(t, http.StatusOK)
	if text := first.stderr.String(); strings.Contains(text, "demo-ada") || !strings.Contains(text, "pk_cs_") || strings.Contains(text, " first ") {
		t.Errorf("the greeting shows the secret that was made, and no passwords:\n%s", text)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	second := start(t, "-db", db) // with the demo, for a database that is not empty
	second.signIn("one@example.com", "first")
	post(t, browser(t), second.app+"/login", credentials("ada@example.com", "demo-ada", "")).want(t, http.StatusForbidden)
	if strings.Contains(second.stderr.String(), "demo-ada") {
		t.Error("the greeting shows sign-ins that do not work")
	}
}

// TOK-09: outside development mode the secrets of a host's own apps do not get into its logs.
func TestSecretsOfFixturesAreNotShown(t *testing.T) {
	t.Parallel()
	r := start(t, "-dev=false", "-key", developmentKey, "-fixtures", file(t, "small.json", smallFixtures))
	text := r.stderr.String()
	if !strings.Contains(text, "with-secret") || strings.Contains(text, "s3cret") || strings.Contains(text, "pk_cs_") {
		t.Errorf("greeting:\n%s", text)
	}
}
