package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// kinds are the kinds of the notifications so far, newest first.
func (r *harness) kinds(about string) string {
	r.t.Helper()
	var kinds []string
	for _, one := range get(r.t, http.DefaultClient, r.api+"/dev/notifications").json(r.t)["data"].([]any) {
		told := one.(map[string]any)
		if kind := told["kind"].(string); strings.HasPrefix(kind, about) {
			kinds = append(kinds, kind+" "+told["userId"].(string))
		}
	}
	return strings.Join(kinds, ", ")
}

// INST-06: a person leaves a business, another one takes the connection over, by /dev and on
// the page of connected apps.
func TestMemberships_INST06(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.dev("apps/ledgerlink-sync/scopes", `{"scopes": ["profile:read", "accounts:read", "accounts:write"]}`).want(t, http.StatusOK)
	ada := r.signIn("ada@example.com", "demo-ada")
	tokens := r.connect(ada, "biz_bakery", "profile:read accounts:read accounts:write")
	access, refresh := tokens["access_token"].(string), tokens["refresh_token"].(string)
	refreshing := func() response {
		t.Helper()
		got := r.oauth("token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		if got.StatusCode == http.StatusOK {
			access, refresh = got.json(t)["access_token"].(string), got.json(t)["refresh_token"].(string)
		}
		return got
	}
	profileOf := func(userID string) {
		t.Helper()
		if a := r.call("GET", "/profile", access).want(t, http.StatusOK); !strings.Contains(a.body, `"`+userID+`"`) {
			t.Errorf("the profile is %s, want that of %s", a.body, userID)
		}
	}
	takeOver := func(userID string) response {
		return r.dev("installations/take-over", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "userId": "`+userID+`"}`)
	}
	role := func(userID, role string) response {
		return r.dev("memberships", `{"businessId": "biz_bakery", "userId": "`+userID+`", "role": `+role+`}`)
	}

	for body, status := range map[string]int{
		`{"businessId": "biz_bakery", "userId": "usr_ben", "role": "king"}`: http.StatusBadRequest,
		`{"businessId": "biz_bakery", "userId": "usr_ben", "role": 1}`:      http.StatusBadRequest,
		`{"businessId": "biz_bakery", "userId": "usr_ben"}`:                 http.StatusBadRequest,
		`{"businessId": "biz_else", "userId": "usr_ben", "role": null}`:     http.StatusNotFound,
		`{"businessId": "biz_bakery", "userId": "usr_else", "role": null}`:  http.StatusNotFound,
		`{"userId": "usr_ben", "role": null}`:                               http.StatusBadRequest,
	} {
		r.dev("memberships", body).want(t, status)
	}
	if got := takeOver("usr_ben").want(t, http.StatusConflict); got.json(t)["code"] != "CONFLICT" {
		t.Errorf("nobody has left: %s", got.body)
	}
	role("usr_ada", "null").want(t, http.StatusOK)
	if got := r.kinds("connection."); got != "connection.orphaned usr_ada" {
		t.Errorf("told %q", got)
	}
	r.call("GET", "/profile", access).want(t, http.StatusUnauthorized)
	if got := refreshing().want(t, http.StatusBadRequest); got.json(t)["error"] != "access_denied" {
		t.Errorf("a refresh: %s", got.body)
	}
	takeOver("usr_cleo").want(t, http.StatusForbidden)
	takeOver("usr_else").want(t, http.StatusNotFound)
	takeOver("usr_ben").want(t, http.StatusOK)
	takeOver("usr_ben").want(t, http.StatusConflict)
	profileOf("usr_ben")
	refreshing().want(t, http.StatusOK)
	profileOf("usr_ben")

	// Cleo is an admin from now on, and takes it over on the page. She has no permission for accounts.
	role("usr_cleo", `"admin"`).want(t, http.StatusOK)
	r.dev("permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": ["apps.install"]}`).want(t, http.StatusOK)
	role("usr_ben", "null").want(t, http.StatusOK)
	cleo := r.session("usr_cleo", "biz_bakery")
	if page := get(t, cleo, r.app+"/settings/apps").want(t, http.StatusOK); !strings.Contains(page.body, "is no longer a member of Moreau Bakery") {
		t.Errorf("the page says nothing: %s", page.body)
	}
	decision := post(t, cleo, r.app+"/settings/apps/take-over", url.Values{"client_id": {"ledgerlink-sync"}}).want(t, http.StatusOK)
	if strings.Contains(decision.body, "Change the chart of accounts") || !strings.Contains(decision.body, "needs no special permission") {
		t.Errorf("permissions that she does not have: %s", decision.body)
	}
	form := decision.form()
	form.Set("decision", "allow")
	post(t, cleo, r.app+"/settings/apps/take-over", form).want(t, http.StatusSeeOther)
	profileOf("usr_cleo")
	r.send("POST", "/accounts", access, `{"code": "7777", "name": "Own", "type": "asset"}`).want(t, http.StatusForbidden)
	r.dev("permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": ["accounts.manage"]}`).want(t, http.StatusOK)
	r.send("POST", "/accounts", access, `{"code": "7777", "name": "Own", "type": "asset"}`).want(t, http.StatusCreated)
	want := "connection.taken_over usr_cleo, connection.orphaned usr_ben, connection.taken_over usr_ben, connection.orphaned usr_ada"
	if got := r.kinds("connection."); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}
