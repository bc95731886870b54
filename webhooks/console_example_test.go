package webhooks_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/webhooks"
)

// A developer adds a webhook, has a test sent to it and changes its secret.
func ExampleService_Create() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	keys, err := keyring.Parse(strings.Repeat("A", 43)) // base64 of the host's own 32 bytes
	if err != nil {
		log.Panic(err)
	}
	service, err := webhooks.New(webhooks.Config{
		Store: store, Keyring: keys, CurrentVersion: "2026-09-01", Clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		log.Panic(err)
	}
	_, err = store.RegisterApp(ctx, oauthstore.Registration{App: partner.App{
		ID: "app_1", ClientID: "cli_1", Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginConsole,
	}})
	if err != nil {
		log.Panic(err)
	}

	w, secret, err := service.Create(ctx, webhooks.NewWebhook{AppID: "app_1", URL: "https://partner.example.com/hooks", Events: []string{"invoice.paid"}})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(w.URL, w.Events, secret[:6])

	test, err := service.SendTest(ctx, "app_1", w.ID, "")
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(test.EventType, test.BusinessID, test.Status)

	_, expires, err := service.RotateSecret(ctx, "app_1", w.ID)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println("the old secret signs until", expires.Format(time.RFC3339))

	_, err = service.Redeliver(ctx, "app_1", w.ID, test.ID)
	fmt.Println(err)
	// Output:
	// https://partner.example.com/hooks [invoice.paid] whsec_
	// invoice.paid test queued
	// the old secret signs until 2026-09-02T12:00:00Z
	// redeliver: 400 DELIVERY_NOT_FAILED: only a failed delivery can be sent again; this one is queued
}
