package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// IT-01 to IT-03: a custom connection, from the console to the calls.
func TestCustomConnections_IT03(t *testing.T) {
	t.Parallel()
	r := start(t, "-db", demoDatabase(t), "-custom-connections")
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	created := do(t, developer, request(t, http.MethodPost, r.api+"/developer/apps", "application/json",
		`{"name": "Night Import", "type": "CONFIDENTIAL", "organizationId": "org_ledgerlink", "redirectUris": ["https://import.example/cb"], "scopes": ["profile:read", "invoices:read", "journal:write"]}`)).want(t, http.StatusCreated).json(t)
	clientID, secret := created["clientId"].(string), created["clientSecret"].(string)
	do(t, developer, request(t, http.MethodPatch, r.api+"/developer/apps/"+created["id"].(string), "application/json", `{"customBusinessId": "biz_bakery"}`)).want(t, http.StatusOK)
	token := func() response {
		return post(t, http.DefaultClient, r.api+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {clientID}, "client_secret": {secret}})
	}
	if a := token().want(t, http.StatusBadRequest); a.json(t)["error"] != "invalid_grant" {
		t.Errorf("before the approval: %s", a.body)
	}
	owner := r.session("usr_ada", "biz_bakery")
	page := get(t, owner, r.app+"/connections/new?client_id="+clientID).want(t, http.StatusOK)
	for _, want := range []string{"Night Import", "Ledgerlink Software", "has not reviewed this app", "Post journal entries <code>journal.post</code>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	form := page.form()
	form.Set("decision", "allow")
	post(t, owner, r.app+"/connections/new", form).want(t, http.StatusOK)
	access := token().want(t, http.StatusOK).json(t)["access_token"].(string)
	call := func(path string) response {
		req := request(t, http.MethodGet, r.api+path, "", "")
		req.Header.Set("Authorization", "Bearer "+access)
		return do(t, http.DefaultClient, req)
	}
	call("/invoices").want(t, http.StatusOK)
	if a := call("/profile").want(t, http.StatusForbidden); !strings.Contains(a.body, "ENDPOINT_NOT_EXPOSED") {
		t.Errorf("%s", a.body)
	}
	r.dev("installations/uninstall", `{"clientId": "`+clientID+`", "businessId": "biz_bakery"}`).want(t, http.StatusOK)
	call("/invoices").want(t, http.StatusUnauthorized)
	token().want(t, http.StatusBadRequest)
}
