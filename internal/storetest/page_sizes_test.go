package storetest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// recordedDB keeps the texts of all queries.
type recordedDB struct {
	storage.DB
	mu    sync.Mutex
	texts map[string]bool
}

func (r *recordedDB) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	r.mu.Lock()
	r.texts[query] = true
	r.mu.Unlock()
	return r.DB.Query(ctx, query, args...)
}

// DLV-09: the limit of a page is the caller's, and a database keeps only so many prepared
// statements, so that limits share their statements.
func TestPageSizes_DLV09(t *testing.T) {
	t.Parallel()
	r := &recordedDB{DB: testdb.SQLite(t), texts: map[string]bool{}}
	e := storetest.NewEnv(t, func(testing.TB) storage.DB { return r })
	now := time.Now()
	app := fixture.App(now, identity.MustScopes("invoices:read"))
	if err := fixture.AddApp(t.Context(), e, app); err != nil {
		t.Fatal(err)
	}
	hook := partner.Webhook{
		ID: id.New(id.Webhook, now), AppID: app.ID, URL: "https://p.example", Events: []string{"invoice.created"},
		Enabled: true, CreatedAt: now, UpdatedAt: now, Secrets: partner.Secrets{Secret: []byte("sealed")},
	}
	if err := e.CreateWebhook(t.Context(), hook, 10); err != nil {
		t.Fatal(err)
	}
	read := func(limit int) {
		t.Helper()
		if _, err := e.Deliveries(t.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID, Limit: limit, Now: now}); err != nil {
			t.Fatal(err)
		}
	}
	read(1)
	read(webhooks.MaxListed)
	before := len(r.texts)
	for limit := 1; limit <= webhooks.MaxListed; limit++ {
		read(limit)
	}
	if len(r.texts) != before {
		t.Errorf("%d statements for all limits, %d for the first and the last", len(r.texts), before)
	}
}
