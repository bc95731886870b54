package console_test

import "testing"

// ERR-06: every body of the console has its wrong types and what else is wrong with it named
// at once.
func TestEveryProblemAtOnce_ERR06(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	hook := path + "/webhooks/" + d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook"}`).want(201).text("id")
	field := path + "/app-data-fields/" + d.ann("POST "+path+"/app-data-fields", `{"resourceType": "invoice", "key": "note", "type": "TEXT"}`).want(201).text("id")
	const slug = "slug must have 3 to 60 of a-z, 0-9 and hyphens, and not begin or end with a hyphen"
	for _, test := range []struct {
		what, body string
		problems   []string
	}{
		{"POST /developer/apps", `{"name": 5, "redirectUris": ["http://a.example", 7], "scopes": ["no scope"]}`, []string{
			"name must be a string", "redirectUris[1] must be a string",
			"scopes: scope 1 has a character that is not allowed", "type must be CONFIDENTIAL or PUBLIC", "redirectUris[0] is not https, nor http on loopback",
		}},
		{"PATCH " + path, `{"name": "", "type": "PUBLIC", "appUrl": 1}`, []string{"appUrl must be a string", "type cannot be changed; create another app", "name must have 1 to 120 characters"}},
		{"POST " + path + "/webhooks", `{"enabled": 1}`, []string{"enabled must be a boolean", "url must not be empty"}},
		{"PATCH " + hook, `{"enabled": 1, "url": null, "events": ["a.b"]}`, []string{"enabled must be a boolean", "url must not be null", `events[0] "a.b" is not in the catalog`}},
		{"POST " + hook + "/redeliver", `{"since": 1, "event": "a.b"}`, []string{"since must be a string", `event "a.b" is not in the catalog`}},
		{"POST " + path + "/app-data-fields", `{"resourceType": "invoice", "key": 1, "type": "TEXT", "minLength": -1}`, []string{
			"key must be a string", "minLength must be a whole number from 0 to 4096",
		}},
		{"PATCH " + field, `{"key": "other", "label": 1}`, []string{"label must be a string", "key cannot be changed; declare another field"}},
		{"POST " + path + "/listing", `{"name": 5}`, []string{"name must be a string", slug}},
		{"POST " + path + "/extensions", `{"resourceType": "invoice", "path": 1}`, []string{"path must be a string", "label must not be empty"}},
		{"POST " + path + "/functions", `{"source": 1}`, []string{"source must be a string", "name must not be empty"}},
		{"POST /developer/tokens", `{"expiresInDays": "9"}`, []string{"expiresInDays must be an integer", "name must have 1 to 100 characters"}},
	} {
		d.ann(test.what, test.body).wantInvalid(test.problems...)
	}
}
