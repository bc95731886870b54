package partnerkit_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

func TestLifetimes(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Lifetimes = oauthserver.Lifetimes{AccessToken: 10 * time.Minute, RefreshToken: 200 * 24 * time.Hour}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"events:read"}})
	h.Advance(10*time.Minute - time.Second)
	app.Get("/events").Want(http.StatusOK)
	h.Advance(time.Second)
	app.Get("/events").Want(http.StatusUnauthorized)
	h.Advance(150 * 24 * time.Hour) // past the purge of tokens with the default lifetime
	response := app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {app.RefreshToken}}).Want(http.StatusOK)
	if !strings.Contains(response.Body, `"expires_in":600`) {
		t.Errorf("the response is %s", response.Body)
	}
}

func TestRetryDelaysAndRetention(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Webhooks.RetryDelays = []time.Duration{time.Second, 2 * time.Second}
		c.Retention = partnerkit.Retention{Events: 24 * time.Hour, Deliveries: 48 * time.Hour}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read", "events:read"}})
	receiver := h.Receiver(app, "invoice.created")
	receiver.Respond(500, 500, 500, 500)
	h.Record(events.Draft{Type: "invoice.created", Data: map[string]any{"id": "inv_1"}})
	for _, want := range []int{1, 2, 3, 3} {
		h.Settle()
		if got := receiver.Count(); got != want {
			t.Fatalf("%d attempts, want %d", got, want)
		}
		h.Clock.Advance(2 * time.Second)
	}
	page, err := h.Webhooks().Deliveries(t.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: receiver.WebhookID})
	if err != nil || len(page.Deliveries) != 1 || page.Deliveries[0].Status != "failed" {
		t.Fatalf("%+v %v", page.Deliveries, err)
	}
	app.Get("/events").Want(http.StatusOK)
	h.Advance(24 * time.Hour)
	app.Refresh()
	if body := app.Get("/events?types=invoice.created").Want(http.StatusOK).Body; strings.Contains(body, "inv_1") {
		t.Errorf("an event is shown after its retention: %s", body)
	}
}

// Every wrong field is named, with the reason, all at once.
func TestUnsafeNumbers(t *testing.T) {
	t.Parallel()
	_, err := partnerkit.New(partnerkit.Config{
		APIURL:    "api.example.com",
		Lifetimes: oauthserver.Lifetimes{Code: 24 * time.Hour, DeviceCode: 2 * time.Hour},
		Limits:    ratelimit.Limits{UserCodes: ratelimit.LockoutRule{MoreThan: 1_000_000}},
		Retention: partnerkit.Retention{Events: -1},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"Config.Store", "Config.Host", "Config.Keyring", "Config.APIURL", "Config.AppURL",
		"Config.Lifetimes.Code is 24h0m0s; it must be at most 10m0s", "Config.Lifetimes.DeviceCode", "Config.Limits.UserCodes", "Config.Retention.Events"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %s:\n%v", part, err)
		}
	}
}
