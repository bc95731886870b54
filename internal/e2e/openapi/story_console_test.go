package openapi_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
)

func (s *service) console(n *newcomers) {
	at := s.API + "/developer"
	act := func(method, path string, body any, want int) reply {
		s.t.Helper()
		return s.do(call{method: method, url: at + path, as: n.dev, json: body, want: want})
	}
	act("GET", "/events", nil, 200)
	created := act("POST", "/apps", map[string]any{"name": "New", "type": "CONFIDENTIAL", "organizationId": "org_ledgerlink",
		"redirectUris": []string{"https://new.example/callback"}, "scopes": []string{"invoices:read"}, "appUrl": "https://new.example/app", "pinnedVersion": "2026-01-15"}, 201)
	app := "/apps/" + created.text("id")
	act("POST", "/apps", map[string]any{"name": "Public", "type": "PUBLIC", "redirectUris": []string{"https://new.example/callback"}, "scopes": []string{"invoices:read"}}, 201)
	page := act("GET", "/apps?limit=1", nil, 200)
	act("GET", "/apps?after="+page.text("nextCursor"), nil, 200)
	act("GET", app, nil, 200)
	act("PATCH", app, map[string]any{"name": "Newer", "pinnedVersion": nil}, 200)
	act("PATCH", app, map[string]any{"name": "Newest", "version": 1}, 409) // CON-13

	secret := act("POST", app+"/secrets", nil, 201).text("id")
	act("GET", app+"/secrets", nil, 200)
	act("DELETE", app+"/secrets/"+secret, nil, 204)
	act("GET", app+"/secrets", nil, 200)
	act("DELETE", app+"/secrets/sec_x", nil, 404)

	field := act("POST", app+"/app-data-fields", map[string]any{"resourceType": "invoice", "key": "state", "type": "CHOICE", "choices": []string{"a", "b"}}, 201).text("id")
	act("POST", app+"/app-data-fields", map[string]any{"resourceType": "invoice", "key": "weight", "type": "NUMBER", "min": 0, "max": 2.5, "decimals": 1}, 201)
	act("POST", app+"/app-data-fields", map[string]any{"resourceType": "invoice", "key": "day", "type": "DATE", "from": "2026-01-01", "label": "Day"}, 201)
	act("POST", app+"/app-data-fields", map[string]any{"resourceType": "invoice", "key": "other", "type": "CHOICE", "choices": []string{}}, 400)
	act("GET", app+"/app-data-fields", nil, 200)
	act("GET", app+"/app-data-fields/"+field, nil, 200)
	act("PATCH", app+"/app-data-fields/"+field, map[string]any{"label": "State"}, 200)
	act("PATCH", app+"/app-data-fields/"+field, map[string]any{"label": "Status", "version": 1}, 409)
	act("DELETE", app+"/app-data-fields/"+field, nil, 204)

	s.consoleWebhooks(act, app)
	s.consoleListing(n, act, app, created.text("clientId"))

	act("GET", "/apps/app_sync/analytics?days=2", nil, 200)
	act("GET", "/apps/app_sync/analytics?days=2&by=route", nil, 200)
	act("GET", "/apps/app_sync/usage?limit=2", nil, 200)
	logged := act("GET", "/apps/app_sync/requests?limit=2", nil, 200)
	act("GET", "/apps/app_sync/requests/"+logged.text("data.0.requestId"), nil, 200)
	act("GET", "/apps/app_sync/requests?status=4xx", nil, 200)
	act("GET", "/apps/app_sync/events?limit=2", nil, 200)
	act("GET", "/apps/app_sync/installations?limit=1", nil, 200)
	act("GET", "/apps/app_sync/limits", nil, 200)
	act("GET", app+"/audit?limit=1", nil, 200)
	act("GET", "/apps/app_sync/audit", nil, 200)
	act("POST", "/tokens", map[string]any{"name": "nightly build", "organizationId": "org_ledgerlink", "expiresInDays": 30}, 201)
	act("GET", "/tokens?organizationId=org_ledgerlink", nil, 200)
	spare := act("POST", "/tokens", map[string]any{"name": "spare", "organizationId": "org_ledgerlink"}, 201).text("id")
	act("DELETE", "/tokens/"+spare, nil, 204)
	act("DELETE", "/tokens/"+spare, nil, 404)
	act("POST", "/registration-tokens", map[string]any{"organizationId": "org_ledgerlink"}, 201)
}

type acting func(method, path string, body any, want int) reply

func (s *service) consoleWebhooks(act acting, app string) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer receiver.Close()
	hook := act("POST", app+"/webhooks", map[string]any{"url": receiver.URL, "events": []string{"invoice.created"}}, 201).text("id")
	at := app + "/webhooks/" + hook
	act("GET", app+"/webhooks", nil, 200)
	act("GET", at, nil, 200)
	act("PATCH", at, map[string]any{"enabled": true}, 200)
	act("PATCH", at, map[string]any{"enabled": true, "version": 99}, 409)
	act("POST", at+"/rotate-secret", nil, 200)
	act("POST", at+"/rotate-secret", map[string]any{}, 200)
	delivery := at + "/deliveries/" + act("POST", at+"/test", nil, 202).text("id")
	act("POST", at+"/test", map[string]any{"event": "invoice.paid"}, 202)
	act("POST", at+"/test", map[string]any{"event": "invoice.exploded"}, 400)
	s.dev("/clock", map[string]any{"advanceSeconds": 1})
	for act("GET", delivery, nil, 200).text("status") == "queued" { // its first attempt is on its way
		s.nextMinute()
	}
	act("POST", delivery+"/attempt-now", nil, 202)
	for _, wait := range []int{1, 61, 301, 1801, 7201, 21601} { // until it is given up
		s.dev("/clock", map[string]any{"advanceSeconds": wait})
		act("GET", at+"/deliveries", nil, 200)
		act("GET", at+"/deliveries?status=queued,retrying&event=invoice.created&businessId=test&since=2026-01-01T00:00:00Z&limit=1", nil, 200)
		act("GET", at+"/deliveries?status=lost", nil, 400)
	}
	for act("GET", delivery, nil, 200).text("status") == "retrying" { // the last attempt is on its way
		s.nextMinute()
	}
	act("POST", delivery+"/attempt-now", nil, 400)
	act("POST", delivery+"/redeliver", nil, 202)
	act("POST", delivery+"/redeliver", nil, 400)
	act("POST", at+"/redeliver", map[string]any{"since": "2026-01-01T00:00:00Z"}, 202)
	act("POST", at+"/redeliver", map[string]any{}, 400)
	act("DELETE", at, nil, 204)
}

func (s *service) consoleListing(n *newcomers, act acting, app, clientID string) {
	icon := s.upload(n, app, "icon", 201).text("id")
	s.upload(n, app, "portrait", 400)
	act("GET", app+"/assets", nil, 200)
	s.do(call{method: "GET", url: s.API + "/developer" + app + "/assets/" + icon, as: n.dev, want: 200})

	content := map[string]any{"slug": "newer", "name": "Newer", "iconAssetId": icon}
	act("GET", app+"/listing", nil, 404)
	act("PUT", app+"/listing", content, 404)
	act("POST", app+"/listing", content, 201)
	act("POST", app+"/listing", content, 409)
	act("DELETE", app+"/assets/"+icon, nil, 400)
	act("POST", app+"/listing/submit", nil, 400)
	content["summary"], content["description"] = "It is new", "It is newer"
	content["publisher"], content["termsUrl"], content["privacyUrl"] = "Newer Ltd", "https://newer.example/terms", "https://newer.example/privacy"
	act("PUT", app+"/listing", content, 200)
	content["version"] = 1
	act("PUT", app+"/listing", content, 409)
	act("POST", app+"/listing/submit", nil, 200)
	for _, state := range []string{"in_review", "approved"} {
		s.dev("/apps/"+clientID+"/listing", map[string]any{"state": state})
		act("GET", app+"/listing", nil, 200)
	}
	public := s.App + "/app-icons" + strings.TrimPrefix(app, "/apps") + "/"
	s.do(call{method: "GET", url: public + icon, want: 200})
	s.do(call{method: "GET", url: public + "other", want: 404})
	unused := s.upload(n, app, "icon", 201).text("id")
	act("DELETE", app+"/assets/"+unused, nil, 204)

	extension := act("POST", app+"/extensions", map[string]any{"resourceType": "invoice", "path": "/invoices", "label": "Status"}, 201).text("id")
	act("POST", app+"/extensions", map[string]any{"resourceType": "customer", "path": "/x", "label": "Status"}, 400)
	act("GET", app+"/extensions", nil, 200)
	act("GET", app+"/extensions/"+extension, nil, 200)
	act("PATCH", app+"/extensions/"+extension, map[string]any{"label": "State"}, 200)
	act("DELETE", app+"/extensions/"+extension, nil, 204)

	function := act("POST", app+"/functions", map[string]any{"name": "total", "source": "export function handler(event) { return event }"}, 201).text("id")
	act("POST", app+"/functions", map[string]any{"name": "none", "source": "const x = 1"}, 400)
	act("GET", app+"/functions", nil, 200)
	act("GET", app+"/functions/"+function, nil, 200)
	act("DELETE", app+"/functions/"+function, nil, 204)
}

// upload adds an image.
func (s *service) upload(n *newcomers, app, kind string, want int) reply {
	var picture, body bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 256, 256))); err != nil {
		s.t.Fatal(err)
	}
	w := multipart.NewWriter(&body)
	_ = w.WriteField("kind", kind)
	file, err := w.CreateFormFile("file", "icon.png")
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = file.Write(picture.Bytes())
	_ = w.Close()
	return s.do(call{method: "POST", url: s.API + "/developer" + app + "/assets", as: n.dev, media: w.FormDataContentType(), body: body.String(), want: want})
}
