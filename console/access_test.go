package console_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/storage"
)

// bodies has the body of each call that takes one. Every write of the console is here:
// the tests below are about all of them.
var bodies = map[string]string{
	"POST /developer/apps":                                                                  confidentialApp,
	"PATCH /developer/apps/{appId}":                                                         `{"name": "New name"}`,
	"POST /developer/apps/{appId}/secrets":                                                  "",
	"DELETE /developer/apps/{appId}/secrets/{secretId}":                                     "",
	"POST /developer/apps/{appId}/webhooks":                                                 `{"url": "https://partner.example/hook", "events": ["invoice.paid"]}`,
	"PATCH /developer/apps/{appId}/webhooks/{webhookId}":                                    `{"enabled": true}`,
	"DELETE /developer/apps/{appId}/webhooks/{webhookId}":                                   "",
	"POST /developer/apps/{appId}/webhooks/{webhookId}/rotate-secret":                       "",
	"POST /developer/apps/{appId}/webhooks/{webhookId}/test":                                "",
	"POST /developer/apps/{appId}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver":   "",
	"POST /developer/apps/{appId}/app-data-fields":                                          `{"resourceType": "invoice", "key": "another", "type": "TEXT"}`,
	"PATCH /developer/apps/{appId}/app-data-fields/{fieldId}":                               `{"label": "Carrier"}`,
	"DELETE /developer/apps/{appId}/app-data-fields/{fieldId}":                              "",
	"POST /developer/tokens":                                                                `{"name": "ci"}`,
	"DELETE /developer/tokens/{tokenId}":                                                    "",
	"POST /developer/registration-tokens":                                                   `{}`,
	"POST /developer/apps/{appId}/listing":                                                  `{"slug": "first-save"}`,
	"PUT /developer/apps/{appId}/listing":                                                   `{"slug": "second-save"}`,
	"POST /developer/apps/{appId}/listing/submit":                                           "",
	"POST /developer/apps/{appId}/review":                                                   "",
	"POST /developer/apps/{appId}/assets":                                                   "", // see uploads
	"DELETE /developer/apps/{appId}/assets/{assetId}":                                       "",
	"POST /developer/apps/{appId}/extensions":                                               `{"resourceType": "invoice", "path": "/page", "label": "Page"}`,
	"PATCH /developer/apps/{appId}/extensions/{extensionId}":                                `{"label": "New label"}`,
	"DELETE /developer/apps/{appId}/extensions/{extensionId}":                               "",
	"POST /developer/apps/{appId}/webhooks/{webhookId}/redeliver":                           `{"since": "2020-01-01T00:00:00Z"}`,
	"POST /developer/apps/{appId}/webhooks/{webhookId}/deliveries/{deliveryId}/attempt-now": "",
	"POST /developer/apps/{appId}/functions":                                                `{"name": "tax", "source": "export default f"}`,
	"DELETE /developer/apps/{appId}/functions/{functionId}":                                 "",
}

// uploads are the calls whose body is no JSON.
var uploads = map[string]upload{
	"POST /developer/apps/{appId}/assets": {kind: "icon", file: pngOf(128, 128)},
}

// world makes an app of Ann's with something in every place, and returns how to fill
// in the path of a call.
func (d *harness) world(pattern string) func(pattern string) string {
	d.Helper()
	path, appID := d.newApp(confidentialApp)
	secretID := d.ann("GET " + path + "/secrets").data()[0]["id"].(string)
	if strings.HasPrefix(pattern, "DELETE") { // the last one cannot be ended
		d.ann("POST " + path + "/secrets").want(http.StatusCreated)
	}
	hook := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook"}`).want(http.StatusCreated).text("id")
	delivery := d.ann("POST " + path + "/webhooks/" + hook + "/test").want(http.StatusAccepted).text("id")
	statements := []string{
		"UPDATE partnerkit_delivery SET status = 'failed', next_attempt_at = NULL WHERE id = $1", "DELETE FROM partnerkit_delivery_queue WHERE delivery_id = $1",
	}
	if strings.HasSuffix(pattern, "/attempt-now") {
		statements = []string{
			"UPDATE partnerkit_delivery SET status = 'retrying', attempts = 1, next_attempt_at = next_attempt_at + 3600000 WHERE id = $1",
			"UPDATE partnerkit_delivery_queue SET due_at = due_at + 3600000 WHERE delivery_id = $1",
		}
	}
	for _, statement := range statements {
		_, err := d.store.Tap.Exec(d.Context(), d.store.Qualified(statement), delivery)
		d.must(err)
	}
	d.ann("PATCH "+path, `{"appUrl": "https://partner.example/app"}`).want(http.StatusOK)
	if pattern != "POST /developer/apps/{appId}/listing" { // which is the first save
		d.ann("POST "+path+"/listing", fmt.Sprintf(`{"slug": "of-%s", "name": "N", "summary": "S", "description": "D"}`, hook[len("whk_"):])).want(http.StatusCreated)
	}
	asset := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	extension := d.ann("POST "+path+"/extensions", bodies["POST /developer/apps/{appId}/extensions"]).want(http.StatusCreated).text("id")
	field := d.ann("POST "+path+"/app-data-fields", carrierField).want(http.StatusCreated).text("id")
	function := ""
	if strings.Contains(pattern, "{functionId}") { // an organization has no checks for one a call
		function = d.ann("POST "+path+"/functions", bodies["POST /developer/apps/{appId}/functions"]).want(http.StatusCreated).text("id")
	}
	d.Calls.Count(analytics.Call{AppID: appID, At: d.clock.Now(), Status: http.StatusOK, RequestID: "request-1"})
	token := ""
	if strings.Contains(pattern, "{tokenId}") { // an organization has no room for one a call
		_, token = d.newToken(ann, `{"name": "deploy"}`)
	}
	return strings.NewReplacer("{tokenId}", token, "{requestId}", "request-1", "{fieldId}", field, "{appId}", appID, "{secretId}", secretID, "{webhookId}", hook, "{deliveryId}", delivery,
		"{assetId}", asset, "{extensionId}", extension, "{functionId}", function).Replace
}

func isWrite(pattern string) bool { return !strings.HasPrefix(pattern, "GET ") }

// callOf is a call with an app of its own.
func (d *harness) callOf(pattern string) call {
	d.Helper()
	body, isKnown := bodies[pattern]
	what := d.world(pattern)(pattern)
	if isWrite(pattern) && !isKnown || strings.Contains(what, "{") {
		d.Fatalf("say above how to call %s", pattern)
	}
	c := call{what: what, body: body}
	if sent, ok := uploads[pattern]; ok {
		c.body, c.contentType = sent.encode()
	}
	return c
}

// eachCall runs a test on every call of the console, with an app of its own.
func eachCall(t *testing.T, test func(d *harness, pattern string, c call)) {
	d := newHarness(t)
	patterns := d.console.Patterns()
	for _, pattern := range patterns {
		test(d, pattern, d.callOf(pattern))
	}
	for pattern := range bodies {
		if !slices.Contains(patterns, pattern) {
			t.Errorf("there is no %s any more", pattern)
		}
	}
}

// CON-01: without a session nothing opens, and an access token is none.
func TestWithoutSession_CON01(t *testing.T) {
	t.Parallel()
	token := "Bearer " + secret.New(secret.AccessToken).Reveal()
	eachCall(t, func(d *harness, _ string, c call) {
		got := d.send(c).want(http.StatusUnauthorized)
		if got.body["statusCode"] != 401.0 || got.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %s", c.what, got.Body)
		}
		c.set = http.Header{"Authorization": {token}}
		d.send(c).want(http.StatusUnauthorized)
		c.by = ann
		d.send(c).want(http.StatusUnauthorized) // API-01: beside a session the token counts
	})
}

// CON-01: a suspended user loses access immediately.
func TestSuspended_CON01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.ann("GET /developer/apps", "").want(http.StatusOK)
	d.must(d.oauth.SetUserStatus(t.Context(), ann, identity.UserSuspended))
	d.ann("GET /developer/apps", "").want(http.StatusForbidden)
	d.must(d.oauth.SetUserStatus(t.Context(), ann, identity.UserActive))
	d.ann("GET /developer/apps", "").want(http.StatusOK)
}

// CON-01: another organization's app is not found, by any call, and looks like one
// that is not there.
func TestAnotherOrganization_CON01(t *testing.T) {
	t.Parallel()
	eachCall(t, func(d *harness, pattern string, c call) {
		if !strings.Contains(pattern, "{appId}") {
			return // it is about the actor's own
		}
		before := d.audited()
		appID := strings.Split(c.what, "/")[3]
		for _, by := range []string{eve, zoe} {
			c.by = by
			foreign := d.send(c).want(http.StatusNotFound)
			absent := c
			absent.what = strings.Replace(c.what, appID, "app_absent", 1)
			if got := d.send(absent).want(http.StatusNotFound); got.Body != foreign.Body {
				t.Errorf("%s: %s for one that exists, %s for one that does not", pattern, foreign.Body, got.Body)
			}
		}
		if d.audited() != before {
			t.Errorf("%s left an entry", pattern)
		}
	})
}

// CON-07: a write that a page of another site sends is refused; reading is left to
// the browser, which lets that page see nothing.
func TestForeignOrigin_CON07(t *testing.T) {
	t.Parallel()
	eachCall(t, func(d *harness, pattern string, c call) {
		c.by, c.set = ann, http.Header{"Origin": {"https://evil.example"}}
		before := d.audited()
		got := d.send(c)
		if isWrite(pattern) {
			got.want(http.StatusForbidden)
		} else {
			got.want(http.StatusOK)
		}
		if got.Header.Get("Access-Control-Allow-Origin") != "" || d.audited() != before {
			t.Errorf("%s: %v, %d entries", pattern, got.Header, d.audited()-before)
		}
	})
}

// CON-07: each write leaves one entry, reading none.
func TestEveryWriteIsAudited_CON07(t *testing.T) {
	t.Parallel()
	eachCall(t, func(d *harness, pattern string, c call) {
		c.by = ann
		before := d.audited()
		got := d.send(c)
		if got.Status >= 300 {
			t.Fatalf("%s: %d %s", pattern, got.Status, got.Body)
		}
		want := 0
		if isWrite(pattern) {
			want = 1
		}
		if entries := d.audited() - before; entries != want {
			t.Errorf("%s left %d entries", pattern, entries)
		}
		if c.body == "" || c.contentType != "" {
			return
		}
		c.body = `{"unheardOf": 1}`
		if got := d.send(c).want(http.StatusBadRequest); !strings.HasPrefix(got.Body, `{"statusCode":400,"message":["unheardOf is not a known member"`) {
			t.Errorf("%s: %s", pattern, got.Body)
		}
		c.set = http.Header{"Content-Type": {"text/plain"}}
		d.send(c).want(http.StatusUnsupportedMediaType)
		if entries := d.audited() - before; entries != want {
			t.Errorf("%s left an entry though it was refused", pattern)
		}
	})
}

// audited counts the entries of the audit log.
func (d *harness) audited() int {
	d.Helper()
	var n int
	d.must(storage.One(d.Context(), d.store, "SELECT COUNT(*) FROM partnerkit_audit", nil, &n))
	return n
}

// CON-01: the host is asked once a request, and its response holds for that request
// alone.
func TestMembership_CON01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	sessions, memberships := d.people.sessions.Load(), d.people.memberships.Load()
	d.send(call{what: "PATCH " + path, by: ben, body: `{"name": "By a colleague"}`}).want(http.StatusOK)
	sessions, memberships = d.people.sessions.Load()-sessions, d.people.memberships.Load()-memberships
	if sessions != 1 || memberships != 1 {
		t.Errorf("asked %d times for the session, %d times for memberships", sessions, memberships)
	}
	d.people.RemoveOrganization(ben, "org_1")
	d.send(call{what: "GET " + path, by: ben}).want(http.StatusNotFound)
	d.send(call{what: "PATCH " + path, by: ben, body: `{"name": "Too late"}`}).want(http.StatusNotFound)
}

// CON-01: no user has access to an app without an organization.
func TestUnownedApp_CON01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	_, err := d.store.Tap.Exec(t.Context(), "UPDATE partnerkit_app SET organization_id = '' WHERE id = $1", appID)
	d.must(err)
	d.people.AddOrganization(zoe, console.Organization{}) // a host that does not look
	for _, by := range []string{ann, zoe} {
		d.send(call{what: "GET " + path, by: by}).want(http.StatusNotFound)
		if apps := d.send(call{what: "GET /developer/apps", by: by}).data(); len(apps) != 0 {
			t.Errorf("%s sees %v", by, apps)
		}
	}
	d.send(call{what: "POST /developer/apps", by: zoe, body: confidentialApp}).wantInvalid("organizationId must be an organization that you are a member of")
}

// ERR-02: errors for unknown paths and methods have the standard shape. API-04: a client
// that is not signed in cannot find out which paths exist.
func TestUnknownCalls_ERR02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	d.ann("GET /developer/nothing").want(http.StatusNotFound)
	d.ann("GET " + path + "/").want(http.StatusNotFound)
	for _, what := range []string{"GET /developer/nothing", "PUT " + path, "GET " + path + "/", "GET /developer/apps"} {
		d.send(call{what: what}).want(http.StatusUnauthorized)
	}
	if got := d.ann("PUT " + path).want(http.StatusMethodNotAllowed); got.Header.Get("Allow") != "GET, HEAD, PATCH" {
		t.Errorf("Allow: %s", got.Header.Get("Allow"))
	}
	d.ann("GET /developer/apps/%00").wantInvalid("the path is not valid UTF-8 without NUL")
	d.ann("POST /developer/apps", `{"name": "`+strings.Repeat("n", 1<<20)+`"}`).want(http.StatusRequestEntityTooLarge)
}
