package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// interrupted is a store in which something happens right before a transaction of the console.
type interrupted struct {
	consolestore.Store
	before atomic.Pointer[func()]
}

func (s *interrupted) Transact(ctx context.Context, do func(ctx context.Context) error) error {
	if before := s.before.Swap(nil); before != nil {
		(*before)()
	}
	return s.Store.Transact(ctx, do)
}

// CON-13: an app that is deactivated after a change was asked for, and before its transaction,
// is read-only for it.
func TestDeactivatedMeanwhile_CON13(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) storage.DB{"SQLite": testdb.SQLite, "PostgreSQL": testdb.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := new(interrupted)
			d := newHarnessOn(t, open, oauthserver.Config{}, func(cfg *console.Config) {
				store.Store = cfg.Store
				cfg.Store, cfg.FunctionChecker = store, nil
			})
			for _, change := range []string{
				`PATCH  {"name": "x"}`,
				`POST /secrets`,
				`DELETE /secrets/{secret}`,
				`POST /webhooks {"url": "https://partner.example/hook"}`,
				`PATCH /webhooks/{webhook} {"enabled": false}`,
				`DELETE /webhooks/{webhook}`,
				`POST /webhooks/{webhook}/rotate-secret`,
				`POST /app-data-fields {"resourceType": "invoice", "key": "other", "type": "TEXT"}`,
				`PATCH /app-data-fields/{field} {"label": "x"}`,
				`DELETE /app-data-fields/{field}`,
				`POST /extensions {"resourceType": "invoice", "path": "/other", "label": "Other"}`,
				`PATCH /extensions/{extension} {"label": "x"}`,
				`DELETE /extensions/{extension}`,
				`POST /functions {"name": "x", "source": "y"}`,
				`DELETE /functions/{function}`,
				`DELETE /assets/{asset}`,
				`POST /assets`,
				`PUT /listing {"slug": "{slug}"}`,
				`POST /listing/submit`,
				`review`,
			} {
				path, appID := d.newApp(`{"name": "Sync", "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read"], "appUrl": "https://partner.example/app"}`)
				icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
				d.ann("POST " + path + "/secrets").want(http.StatusCreated)
				slug := appID[len("app_"):]
				d.ann("POST "+path+"/listing", strings.Replace(wholeListing, "sync", slug, 1)).want(http.StatusCreated)
				text := strings.NewReplacer("{slug}", slug, "{asset}", icon,
					"{secret}", d.ann("GET " + path + "/secrets").data()[0]["id"].(string),
					"{webhook}", d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook"}`).want(http.StatusCreated).text("id"),
					"{field}", d.ann("POST "+path+"/app-data-fields", carrierField).want(http.StatusCreated).text("id"),
					"{extension}", d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/page", "label": "Page"}`).want(http.StatusCreated).text("id"),
					"{function}", d.ann("POST "+path+"/functions", `{"name": "f", "source": "f"}`).want(http.StatusCreated).text("id"),
				).Replace(change)
				if change == "review" {
					d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
				}
				state := d.contents(path)
				deactivate := func() { d.must(fixture.SetAppStatus(t.Context(), d.store, appID, partner.AppDeactivated)) }
				store.before.Store(&deactivate)

				method, rest, _ := strings.Cut(text, " ")
				below, body, _ := strings.Cut(rest, " ")
				switch change {
				case "review":
					_, err := d.console.ReviewListing(t.Context(), console.Review{AppID: appID, State: consolestore.RevisionInReview})
					if err == nil || !strings.Contains(err.Error(), "APP_DEACTIVATED") {
						t.Errorf("a review: %v", err)
					}
				case `POST /assets`:
					d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).wantCode(http.StatusBadRequest, "APP_DEACTIVATED")
				default:
					d.ann(method+" "+path+below, body).wantCode(http.StatusBadRequest, "APP_DEACTIVATED")
				}
				if after := d.contents(path); after != state {
					t.Errorf("%s changed\n%s\nto\n%s", change, state, after)
				}
			}
		})
	}
}

// contents is what the console shows of an app but for its status and what happened to it.
func (d *harness) contents(path string) string {
	d.Helper()
	var all strings.Builder
	for _, below := range []string{"/secrets", "/webhooks", "/app-data-fields", "/extensions", "/functions", "/assets", "/listing"} {
		all.WriteString(d.ann("GET " + path + below).want(http.StatusOK).Body)
	}
	fmt.Fprintln(&all, d.ann("GET " + path).body["name"])
	return all.String()
}

// CON-13: of two who have read the same version one changes it. Without a version all do.
func TestVersion_CON13(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	hook := path + "/webhooks/" + d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook"}`).want(http.StatusCreated).text("id")
	field := path + "/app-data-fields/" + d.ann("POST "+path+"/app-data-fields", carrierField).want(http.StatusCreated).text("id")
	listing := fmt.Sprintf(`"slug": %q`, appID[len("app_"):])
	d.ann("POST "+path+"/listing", "{"+listing+"}").want(http.StatusCreated)
	for what, member := range map[string]string{
		"PATCH " + path: `"name": "Mine"`, "PATCH " + hook: `"events": []`, "PATCH " + field: `"label": "Mine"`, "PUT " + path + "/listing": listing,
	} {
		_, at, _ := strings.Cut(what, " ")
		read := d.ann("GET " + at).want(http.StatusOK).body["version"].(float64)
		body := fmt.Sprintf(`{%s, "version": %v}`, member, read)
		if got := d.race(call{what: what, by: ann, body: body}, call{what: what, by: ben, body: body}); got["200"] != 1 || got["409 CONFLICT"] != 1 {
			t.Errorf("%s: %v", what, got)
		}
		if now := d.ann("GET " + at).body["version"].(float64); now != read+1 {
			t.Errorf("%s: version %v became %v", what, read, now)
		}
		d.ann(what, body).wantCode(http.StatusConflict, "CONFLICT")
		d.ann(what, fmt.Sprintf(`{%s, "version": %v}`, member, read+2)).wantCode(http.StatusConflict, "CONFLICT")
		if got := d.ann(what, "{"+member+"}").want(http.StatusOK).body["version"].(float64); got != read+2 {
			t.Errorf("%s without a version: %v", what, got)
		}
		d.ann(what, fmt.Sprintf(`{%s, "version": null}`, member)).wantInvalid("version must not be null")
		d.ann(what, fmt.Sprintf(`{%s, "version": 1.5}`, member)).want(http.StatusBadRequest)
	}
	d.ann("POST "+path+"/app-data-fields", `{"resourceType": "invoice", "key": "new", "type": "TEXT", "version": 1}`).wantInvalid("version is for changes; a new field has none yet")
}
