package partnerkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// told is a Notifier that stores the notifications it receives.
type told struct {
	mu  sync.Mutex
	all []events.Notification
}

func (n *told) Notify(_ context.Context, one events.Notification) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, one)
	return nil
}

// take returns the notifications since the last call, as lines.
func (n *told) take() (lines []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.all {
		line := string(one.Kind)
		for _, part := range []string{one.BusinessID, one.UserID, one.ClientID, one.Detail} {
			if part != "" {
				line += " " + part
			}
		}
		lines = append(lines, line)
	}
	n.all = nil
	return lines
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	notifier := &told{}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Notifier = notifier })
	ctx := t.Context()
	step := func(name string, do func(), want ...string) {
		t.Helper()
		do()
		h.Settle()
		if diff := cmp.Diff(want, notifier.take()); diff != "" {
			t.Errorf("OPS-03 %s (-want +got):\n%s", name, diff)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var app *partnertest.App
	connect := func() {
		app = h.Connect(partnertest.ConnectOptions{App: app, Scopes: []string{"invoices:read"}})
	}
	step("connect", connect, "app.created Test app", "app.connected biz_bakery usr_ada invoices:read")
	step("connect again", connect)
	both, err := identity.ParseScopes("invoices:read customers:read")
	must(err)
	step("widen", func() {
		_, err := h.OAuth().UpdateApp(ctx, app.ID, oauthserver.AppChange{Scopes: &both})
		must(err)
		must(h.OAuth().SetReviewed(ctx, app.ID, true))
		h.Connect(partnertest.ConnectOptions{App: app, Scopes: both.Names()})
	}, "app.scopes_changed biz_bakery usr_ada "+both.String())
	step("narrow", func() {
		one, err := identity.ParseScopes("invoices:read")
		must(err)
		must(h.OAuth().SetInstallationScopes(ctx, app.ID, partnertest.Business, one))
		must(h.OAuth().SetInstallationScopes(ctx, app.ID, partnertest.Business, one))
	}, "app.scopes_changed biz_bakery invoices:read")
	step("reuse", func() {
		old := app.RefreshToken
		app.Refresh()
		app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old}}).Want(http.StatusBadRequest)
		app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old}}).Want(http.StatusBadRequest)
	}, "token.reuse_detected biz_bakery usr_ada")
	step("access revoked", func() { must(h.OAuth().RevokeAccess(ctx, app.ID, partnertest.Business, partnertest.User)) },
		"app.access_revoked biz_bakery usr_ada")
	step("redacted", func() { h.Advance(48 * time.Hour) }, "business.redacted biz_bakery")
	step("connect once more", connect, "app.connected biz_bakery usr_ada invoices:read")
	step("disconnected", func() { must(h.OAuth().Uninstall(ctx, app.ID, partnertest.Business, "")) }, "app.disconnected biz_bakery")
	step("status", func() {
		for _, status := range []partner.AppStatus{partner.AppSuspended, partner.AppSuspended, partner.AppActive, partner.AppDeactivated} {
			must(h.OAuth().SetAppStatus(ctx, app.ID, status))
		}
	}, "app.suspended", "app.reactivated", "app.deactivated")
	step("lockout", func() {
		wrong := *app
		wrong.ClientSecret = "pk_cs_wrong"
		for i := range 32 {
			want := http.StatusUnauthorized
			if i > 30 {
				want = http.StatusTooManyRequests
			}
			wrong.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}).Want(want)
		}
	}, "client.locked_out "+app.ClientID+" 192.0.2.1")
}

// OPS-03: what the Notifier failed at is told again as time passes.
func TestFailedNotificationIsToldAgain(t *testing.T) {
	t.Parallel()
	calls, notifier := 0, &told{}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Logger = nil
		c.Notifier = events.NotifierFunc(func(ctx context.Context, n events.Notification) error {
			calls++
			switch calls {
			case 1:
				return errors.New("mailbox full")
			case 2:
				panic("no mail server")
			}
			return notifier.Notify(ctx, n)
		})
	})
	h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	h.Settle()
	if got := notifier.take(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	h.Advance(time.Minute)
	if diff := cmp.Diff([]string{"app.created Test app", "app.connected biz_bakery usr_ada invoices:read"}, notifier.take()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// OPS-03, LOCK-01: many simultaneous failures send one notification of the lockout.
func TestLockoutIsToldOnce(t *testing.T) {
	t.Parallel()
	notifier := &told{}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Notifier = notifier })
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	wrong := *app
	wrong.ClientSecret = "pk_cs_wrong"
	h.Settle()
	notifier.take()
	var failing sync.WaitGroup
	for range 100 {
		failing.Go(func() { wrong.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}) })
	}
	failing.Wait()
	h.Settle()
	if got := notifier.take(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestNotificationsOfTheConsole(t *testing.T) {
	t.Parallel()
	notifier := &told{}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Notifier = notifier })
	browser := h.Browser(partnertest.User, "")
	send := func(method, path, body string, want int) map[string]any {
		t.Helper()
		return consoleCall(t, h, browser, consoleRequest{method, path, body, want})
	}
	step := func(name string, want ...string) {
		t.Helper()
		h.Settle()
		if diff := cmp.Diff(want, notifier.take()); diff != "" {
			t.Errorf("OPS-03 %s (-want +got):\n%s", name, diff)
		}
	}
	created := send("POST", "/developer/apps", `{"name": "Sync", "type": "CONFIDENTIAL", "redirectUris": ["https://app.example/cb"], "scopes": ["invoices:read"], "organizationId": "org_ledgerlink"}`, http.StatusCreated)
	appID := fmt.Sprint(created["id"])
	step("create", "app.created Sync")
	secret := send("POST", "/developer/apps/"+appID+"/secrets", `{}`, http.StatusCreated)
	step("secret", "secret.created "+fmt.Sprint(secret["prefix"]))
	send("DELETE", "/developer/apps/"+appID+"/secrets/"+fmt.Sprint(secret["id"]), "", http.StatusNoContent)
	step("end secret", "secret.revoked")
	hook := send("POST", "/developer/apps/"+appID+"/webhooks", `{"url": "https://app.example/hook", "events": ["invoice.created"]}`, http.StatusCreated)
	send("POST", "/developer/apps/"+appID+"/webhooks/"+fmt.Sprint(hook["id"])+"/rotate-secret", `{}`, http.StatusOK)
	step("rotate", "signing_secret.rotated")
	if _, err := h.Console().ReviewListing(t.Context(), console.Review{AppID: appID, State: consolestore.RevisionApproved}); err == nil {
		t.Error("an app without a listing was approved")
	}
	step("refused review")
}

type consoleRequest struct {
	method, path, body string
	want               int
}

// consoleCall calls the JSON API of the console and returns its response.
func consoleCall(t *testing.T, h *partnertest.Harness, browser *http.Client, c consoleRequest) (body map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.method, h.APIURL+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != c.want {
		t.Fatalf("%s %s: %d %s %v, want %d", c.method, c.path, response.StatusCode, raw, err, c.want)
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
	}
	return body
}
