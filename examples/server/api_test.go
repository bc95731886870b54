package main

import (
	"net/http"
	"testing"
)

// call makes a call of the API with a token.
func (r *harness) call(method, path, token string, header ...string) response {
	r.t.Helper()
	req := request(r.t, method, r.api+path, "", "")
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return do(r.t, http.DefaultClient, req)
}

// API-01 to API-05, LIM-04, VER-01, VER-02 from outside: an app that was connected
// calls what is open, in the version that it wants.
func TestCallsOfAnApp(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.session("usr_ada", "biz_bakery")
	token := r.connect(b, "biz_bakery", "profile:read")["access_token"].(string)
	profile := r.call("GET", "/profile", token).want(t, http.StatusOK)
	if profile.body != `{"business":{"id":"biz_bakery","name":"Moreau Bakery"},"user":{"id":"usr_ada","name":"Ada Moreau"}}` {
		t.Error(profile.body)
	}
	if profile.Header.Get("RateLimit-Limit") != "300" || profile.Header.Get("RateLimit-Remaining") != "299" || profile.Header.Get("Service-Version") != "2026-09-01" {
		t.Errorf("header %v", profile.Header)
	}
	for _, test := range []struct {
		method, path, version string
		status                int
		code                  any
	}{
		{"GET", "/profile", "2026-01-15", 200, nil},
		{"GET", "/profile", "2025-06-01", 400, "UNSUPPORTED_API_VERSION"},
		{"GET", "/profile", "2020-01-01", 400, "UNSUPPORTED_API_VERSION"},
		{"POST", "/profile", "2026-09-01", 403, "ENDPOINT_NOT_EXPOSED"},
		{"GET", "/nothing", "2026-09-01", 403, "ENDPOINT_NOT_EXPOSED"},
		{"GET", "/developer", "2026-09-01", 403, "ENDPOINT_NOT_EXPOSED"},
		{"GET", "/developer/apps", "2026-09-01", 403, "ENDPOINT_NOT_EXPOSED"},
		{"POST", "/developer/apps/app_sync/webhooks/whk_sync/rotate-secret", "2026-09-01", 403, "ENDPOINT_NOT_EXPOSED"},
	} {
		a := r.call(test.method, test.path, token, "Service-Version", test.version).want(t, test.status)
		if got := a.json(t)["code"]; got != test.code {
			t.Errorf("%s %s in %s: %v", test.method, test.path, test.version, got)
		}
	}
	r.dev("apps/ledgerlink-sync/version", `{"pinnedVersion": "2026-01-15"}`).want(t, http.StatusOK)
	if got := r.call("GET", "/profile", token).Header.Get("Service-Version"); got != "2026-01-15" {
		t.Errorf("pinned: %s", got)
	}
	other := r.connect(b, "biz_bakery", "invoices:read")["access_token"].(string)
	if a := r.call("GET", "/profile", other).want(t, http.StatusForbidden).json(t); a["code"] != "INSUFFICIENT_SCOPE" {
		t.Error(a)
	}
	get(t, b, r.api+"/profile").want(t, http.StatusOK) // BIZ-05
	get(t, http.DefaultClient, r.api+"/profile").want(t, http.StatusUnauthorized)
	r.dev("installations/uninstall", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`).want(t, http.StatusOK)
	r.call("GET", "/profile", token).want(t, http.StatusUnauthorized) // INST-01, API-09
}
