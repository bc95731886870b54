package seed_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/seed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse reads and checks a file, for the default scopes and events.
func parse(text []byte) (seed.Data, error) {
	d, err := seed.Parse(text, "test")
	if err != nil {
		return d, err
	}
	return d, d.Check(identity.DefaultScopes(), events.DefaultCatalog())
}

func TestDemoIsValid(t *testing.T) {
	t.Parallel()
	f, err := fixtures.Data()
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
		{`{"users": [{"id": "u", "email": "a", "name": "A"}]}`, "users[0].email"},
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
		{strings.Replace(app(""), `"name": "N"`, `"name": ""`, 1), "apps[0].name must have 1 to 120 characters"},                  // REG-02
		{strings.Replace(app(""), `"name": "N"`, `"name": "\u0301"`, 1), "apps[0].name must have at least one visible character"}, // REG-02
		{strings.Replace(app(""), `"name": "N"`, `"name": "N\u3164"`, 1), "apps[0].name must not have the character U+3164"},      // CON-15
		{strings.Replace(app(""), `"organizationId": "org_1"`, `"organizationId": "org_2"`, 1), `apps[0].organizationId "org_2"`},
	} {
		if _, err := parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
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
		if _, err := parse([]byte(text)); err != nil {
			t.Errorf("%s:\n  %v", text, err)
		}
	}
}

// FuzzFixtures: a file is taken or refused, and one that is taken is consistent.
func FuzzFixtures(f *testing.F) {
	f.Add(fixtures.Demo)
	for _, seed := range []string{
		``, `{}`, `null`, `{"users":null}`, `{"organizations":[{"id":"org_1","name":"A","members":["usr_1"]}],"users":[{"id":"usr_1","email":"a@b.c","password":"p","name":"A"}]}`,
		`{"apps":[{"id":"app_1","clientId":"c","type":"PUBLIC","name":"A","organizationId":"org_1","scopes":"invoices:read","redirectUris":["javascript:1"]}]}`,
		`{"businesses":[{"id":"biz_1","name":"B","members":[{"userId":"usr_9","role":"king"}]}]}`, `{"apps":[{"appDataFields":[{"min":1e999}]}]}`, `{"extra":1}`, `{"users":[],"users":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a reason")
			}
			return
		}
		users, seen := map[string]bool{}, map[string]bool{}
		for _, user := range got.Users {
			users[user.ID] = true
		}
		for _, b := range got.Businesses {
			if seen[b.ID] || b.ID == "" {
				t.Fatalf("business %q", b.ID)
			}
			seen[b.ID] = true
			for _, m := range b.Members {
				if !users[m.UserID] {
					t.Fatalf("%s has the member %q, who does not exist", b.ID, m.UserID)
				}
			}
		}
	})
}
