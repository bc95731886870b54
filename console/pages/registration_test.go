package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// REG-05: a token from the page registers one app for the organization. It is shown
// once; that it was issued is shown to the organization.
func TestRegistrationTokens_REG05_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	const path = "/registration"
	if !strings.Contains(o.get("").Body, `href="/developer/registration"`) {
		t.Error("the apps do not lead there")
	}
	o.get(path).want(http.StatusOK).shows("For One", "No tokens have been issued yet").lacks("<select")
	issue := func(by, organization string) response {
		return o.later().send(ask{method: http.MethodPost, path: path, by: by, form: url.Values{"organization_id": {organization}}})
	}
	issued := issue(ben, "org_2").want(http.StatusOK).shows("It is not shown again.", "2 Sep 2026, 12:00:01 UTC")
	token := regexp.MustCompile(`data-copy="([^"]+)"`).FindStringSubmatch(issued.Body)[1]
	register := func() int {
		r := httptest.NewRequest(http.MethodPost, "https://api.example.com/oauth/register", strings.NewReader(`{"client_name": "Registered", "redirect_uris": ["https://partner.example/cb"]}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		o.oauth.APIHandler().ServeHTTP(w, r)
		return w.Code
	}
	if first, second := register(), register(); first != http.StatusCreated || second != http.StatusUnauthorized {
		t.Errorf("registered: %d, and again: %d", first, second)
	}
	issue(ann, "").want(http.StatusOK)
	const anns, bens = "Registration token created usr_ann One", "Registration token created usr_ben Two"
	o.send(ask{method: http.MethodGet, path: path, by: ben}).shows(anns, bens).lacks(token)
	o.get(path).shows(anns).lacks("usr_ben", "org_2", "Two", token)
	o.send(ask{method: http.MethodGet, path: path, by: eve}).shows("No tokens have been issued yet").lacks("usr_ann", "usr_ben")
	o.send(ask{method: http.MethodGet, path: path, by: zoe}).shows("You do not belong to an organization").lacks("usr_ann", "<form method=\"post\" action=\"/developer/registration\"")

	const alien = "organizationId must be an organization that you are a member of"
	issue(ann, "org_2").want(http.StatusBadRequest).alerts(alien).shows(anns)
	issue(zoe, "org_1").want(http.StatusBadRequest).alerts(alien)
	issue(ben, "").want(http.StatusBadRequest).alerts("organizationId is required: you are a member of several organizations")
}

// CON-07: many tokens have pages.
func TestRegistrationPages_CON07(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	for range 51 {
		o.later().post("/registration").want(http.StatusOK)
	}
	first := o.get("/registration").want(http.StatusOK)
	next := regexp.MustCompile(`/registration\?after=[a-z0-9_]+`).FindString(first.Body)
	second := o.get(next).want(http.StatusOK).shows("To the newest")
	if a, b := strings.Count(first.Body, "Registration token created"), strings.Count(second.Body, "Registration token created"); a != 50 || b != 1 {
		t.Errorf("%d and %d entries", a, b)
	}
	o.get("/registration?after=%00").want(http.StatusBadRequest)
}
