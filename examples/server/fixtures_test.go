package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemoIsValid(t *testing.T) {
	t.Parallel()
	f, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, a := range f.Apps {
		kinds[a.Type] = true
		kinds[map[bool]string{true: "reviewed", false: "unreviewed"}[a.Reviewed]] = true
	}
	for _, kind := range []string{"CONFIDENTIAL", "PUBLIC", "reviewed", "unreviewed"} {
		if !kinds[kind] {
			t.Errorf("the demo has no app that is %s", kind)
		}
	}
}

func TestFixturesThatAreWrong(t *testing.T) {
	t.Parallel()
	const user = `"users": [{"id": "usr_1", "email": "a@example.com", "password": "p", "name": "A"}]`
	const organization = `"organizations": [{"id": "org_1", "name": "O", "members": ["usr_1"]}]`
	app := func(more string) string {
		return `{` + user + `, ` + organization + `, "apps": [{"id": "app_1", "clientId": "c", "name": "N", "type": "PUBLIC", "organizationId": "org_1", "reviewed": false, "redirectUris": [], "scopes": []` + more + `}]}`
	}
	business := func(more string) string {
		return `{` + user + `, ` + organization + `, "businesses": [{"id": "biz_1", "name": "B", "members": []` + more + `}]}`
	}
	for _, test := range []struct{ text, want string }{
		{`{"people": []}`, "people is not a known member"},
		{`{"users": [{"id": "usr_1", "mail": "x"}]}`, "users[0].mail is not a known member"},
		{`{"users": [{"id": "usr_1", "id": "usr_2"}]}`, "users[0].id is given more than once"},
		{`{"Users": []}`, "Users is not a known member"},
		{`{} {}`, "goes on after"},
		{``, "empty"},
		{`{"users": [{"email": "a@example.com", "password": "p", "name": "A"}]}`, "users[0].id is missing"},
		{`{"users": [{"id": "u", "email": "a", "password": "", "name": "A"}]}`, "users[0].password"},
		{`{"users": [{"id": "u", "email": "a@b", "password": "p"}, {"id": "u", "email": "A@B", "password": "p"}]}`, `users[1].id "u" comes twice; users[1].email "A@B" is another user's`},
		{`{"organizations": [{"id": "o", "name": "O", "members": ["usr_x"]}]}`, `organizations[0].members[0] "usr_x" is no user`},
		{business(`, "organizationId": "org_x"`), `businesses[0].organizationId "org_x" is no organization`},
		{business(`, "sandbox": true`), "businesses[0].sandbox needs organizationId"},
		{business(`, "plan": "GOLD"`), `businesses[0].plan "GOLD"`},
		{business(`, "invoiceLimit": -1`), "businesses[0] has a limit below 0"},
		{app(`, "clientSecret": "s"`), "apps[0].clientSecret: a PUBLIC app has none"},
		{app(`, "webhooks": [{"id": "whk_1", "url": "ftp://x", "events": []}]`), "apps[0].webhooks[0].url"},
		{app(`, "webhooks": [{"id": "whk_1", "url": "https://x.example", "events": ["invoices"]}]`), `apps[0].webhooks[0].events[0] "invoices"`},
		{app(`, "webhooks": [{"id": "whk_1", "url": "https://x.example", "events": [], "secrets": "x"}]`), "apps[0].webhooks[0].secrets is not a known member"},
		{app(`, "appDataFields": [{"resourceType": "boat", "key": "k", "type": "TEXT"}]`), `apps[0].appDataFields[0].resourceType "boat"`},
		{app(`, "appDataFields": [{"resourceType": "invoice", "key": "k", "type": "CHOICE", "choices": []}]`), "apps[0].appDataFields[0].choices"},
		{app(`, "appUrl": "http://app.example"`), "apps[0].appUrl is not https, nor http on loopback"},
		{app(`, "appUrl": "https://app.example:0443"`), "apps[0].appUrl has no valid port"},
		{app(`, "appUrl": "https://a;b.example"`), "apps[0].appUrl has no valid host"}, // CON-05
		{strings.Replace(app(""), `"redirectUris": []`, `"redirectUris": ["http://app.example/cb"]`, 1), "apps[0].redirectUris[0] is not https"},
		{strings.Replace(app(""), `"scopes": []`, `"scopes": ["internal:admin"]`, 1), "apps[0].scopes: unknown scope: internal:admin"},
		{strings.Replace(app(""), `"PUBLIC"`, `"SECRET"`, 1), `apps[0].type "SECRET"`},
		{strings.Replace(app(""), `"name": "N"`, `"name": ""`, 1), "apps[0].name must have 1 to 120 characters"},                        // REG-02
		{strings.Replace(app(""), `"name": "N"`, `"name": "\u0301\u3164"`, 1), "apps[0].name must have at least one visible character"}, // REG-02
		{strings.Replace(app(""), `"organizationId": "org_1"`, `"organizationId": "org_2"`, 1), `apps[0].organizationId "org_2"`},
	} {
		if _, err := Parse([]byte(test.text), "test"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n  %v\n  want %s", test.text, err, test.want)
		}
	}
	for _, text := range []string{
		`{}`,
		app(`, "clientSecret": null, "pinnedVersion": null, "appUrl": "https://app.example/x"`),
		app(`, "webhooks": [{"id": "whk_1", "url": "http://127.0.0.1:1/", "events": ["invoice.created"], "secret": "whsec_x", "enabled": false}]`),
		app(`, "appDataFields": [{"resourceType": "invoice", "key": "k", "type": "NUMBER", "label": "L", "min": 0, "max": 1.5, "decimals": 2}]`),
		business(`, "organizationId": "org_1", "sandbox": true, "plan": "FREE", "invoiceLimit": 1, "turnoverLimit": 2, "currency": "USD"`),
		strings.Replace(app(""), `"redirectUris": []`, `"redirectUris": ["com.example.app:/cb", "https://app.example/cb?x=1"]`, 1),
	} {
		if _, err := Parse([]byte(text), "test"); err != nil {
			t.Errorf("%s:\n  %v", text, err)
		}
	}
}

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
