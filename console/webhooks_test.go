package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// CON-02, WH-01: webhooks from creation to deletion.
func TestWebhooks_CON02_WH01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	made := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook", "events": ["invoice.paid", "invoice.created", "invoice.paid"]}`).want(http.StatusCreated)
	made.wantTime("createdAt", 0)
	want := map[string]any{
		"id": made.text("id"), "url": "https://partner.example/hook", "events": []any{"invoice.paid", "invoice.created"}, "enabled": true,
		"createdAt": made.text("createdAt"), "updatedAt": made.text("createdAt"), "health": map[string]any{"failing": false, "degraded": false},
		"version": 1.0, // CON-13
	}
	one := path + "/webhooks/" + made.text("id")
	d.ann("GET " + one).want(http.StatusOK).wantBody(want)
	d.ann("GET " + path + "/webhooks").want(http.StatusOK).wantBody(map[string]any{"data": []any{want}})
	if !strings.HasPrefix(made.text("secret"), "whsec_") {
		t.Errorf("the secret is %q", made.text("secret"))
	}
	want["secret"] = made.text("secret")
	made.wantBody(want)
	delete(want, "secret")

	for i, step := range []struct {
		body, member string
		value        any
	}{
		{`{"url": "https://partner.example/2"}`, "url", "https://partner.example/2"},
		{`{"events": []}`, "events", []any{}},
		{`{"enabled": false}`, "enabled", false},
		{`{"enabled": true}`, "enabled", true},
		{`{"events": ["app.installed"]}`, "events", []any{"app.installed"}},
	} {
		want[step.member], want["version"] = step.value, float64(i+2)
		got := d.ann("PATCH "+one, step.body).want(http.StatusOK)
		want["updatedAt"] = got.text("updatedAt")
		got.wantBody(want)
		d.ann("GET " + one).want(http.StatusOK).wantBody(want)
	}
	off := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/off", "enabled": false}`).want(http.StatusCreated)
	if off.body["enabled"] != false || cmp.Diff([]any{}, off.body["events"]) != "" {
		t.Errorf("switched off from the start: %s", off.Body)
	}
	d.ann("DELETE " + one).want(http.StatusNoContent)
	for _, what := range []string{"GET ", "DELETE "} {
		d.ann(what + one).want(http.StatusNotFound)
	}
	d.ann("PATCH "+one, `{}`).want(http.StatusNotFound)
	if left := d.ann("GET " + path + "/webhooks").data(); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// CON-02, DLV-07: each problem of a webhook is reported with the name of its member.
func TestWebhookValidation_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	one := path + "/webhooks/" + d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated).text("id")
	for _, test := range []struct {
		what, body string
		problems   []string
	}{
		{"POST " + path + "/webhooks", `{"url": "https://partner.example/", "events": ["invoice.exploded", 1], "secret": "whsec_mine"}`, []string{
			"events[1] must be a string", "secret is not a known member", `events[0] "invoice.exploded" is not in the catalog`,
		}},
		{"POST " + path + "/webhooks", `{"url": "https://partner.example/", "events": ["invoice.exploded"]}`, []string{`events[0] "invoice.exploded" is not in the catalog`}},
		{"PATCH " + one, `{"url": null, "events": null, "enabled": null}`, []string{"url must not be null", "events must not be null", "enabled must not be null"}},
		{"PATCH " + one, `{"events": ["a.b", "c.d"]}`, []string{`events[0] "a.b" is not in the catalog`, `events[1] "c.d" is not in the catalog`}},
		{"PATCH " + one, `{"enabled": "no", "id": "whk_1"}`, []string{"enabled must be a boolean", "id is not a known member"}},
	} {
		d.ann(test.what, test.body).wantInvalid(test.problems...)
	}
	for _, url := range []string{"", "http://partner.example/", "https://me@partner.example/", "https://", "ftp://partner.example/"} {
		for _, what := range []string{"POST " + path + "/webhooks", "PATCH " + one} {
			got := d.ann(what, `{"url": "`+url+`"}`).want(http.StatusBadRequest)
			if problems, ok := got.body["message"].([]any); !ok || len(problems) != 1 || !strings.HasPrefix(problems[0].(string), "url ") {
				t.Errorf("%q: %s", url, got.Body)
			}
		}
	}
	for range 19 {
		d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated)
	}
	d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).wantInvalid("an app has at most 20 webhooks")
}

// CON-01, SIG-02: rotation responds with the new secret and the end of the old one.
func TestRotateSecret_CON01_SIG02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	made := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated)
	one := path + "/webhooks/" + made.text("id")
	seen := map[string]bool{made.text("secret"): true}
	for range 2 {
		got := d.ann("POST " + one + "/rotate-secret").want(http.StatusOK)
		got.wantTime("previousSecretExpiresAt", 24*time.Hour)
		if len(got.body) != 2 || !strings.HasPrefix(got.text("secret"), "whsec_") || seen[got.text("secret")] {
			t.Errorf("answered %s", got.Body)
		}
		seen[got.text("secret")] = true
	}
	d.ann("POST " + path + "/webhooks/whk_absent/rotate-secret").want(http.StatusNotFound)
	d.ann("POST "+one+"/rotate-secret", `{"secret": "whsec_mine"}`).wantInvalid("secret is not a known member")
}
