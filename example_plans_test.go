package partnerkit_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// plan is a line of the price list.
type plan struct {
	Price             int64 // cents a month
	Connections       int   // businesses at the same time; 0 means any number
	PerMinute, PerDay int   // calls for one business
	Gigabytes         int64 // of responses, included in the price
	PerGigabyte       int64 // cents for each further one that has begun
}

var priceList = map[string]plan{
	"starter":    {Price: 0, Connections: 5, PerMinute: 60, PerDay: 1_000, Gigabytes: 1, PerGigabyte: 240},
	"core":       {Price: 35_00, Connections: 50, PerMinute: 60, PerDay: 5_000, Gigabytes: 10, PerGigabyte: 240},
	"plus":       {Price: 245_00, Connections: 1_000, PerMinute: 60, PerDay: 5_000, Gigabytes: 50, PerGigabyte: 240},
	"enterprise": {Price: 1_445_00, PerMinute: 300, PerDay: 20_000, Gigabytes: 250, PerGigabyte: 150},
}

// contracts knows which app has which plan.
type contracts struct {
	mu     sync.RWMutex
	planOf map[string]string // by the id of the app; others are starters
}

func (c *contracts) plan(appID string) plan {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if name, ok := c.planOf[appID]; ok {
		return priceList[name]
	}
	return priceList["starter"]
}

func (c *contracts) sign(appID, plan string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planOf[appID] = plan
}

// configure makes the platform keep to the plans.
func (c *contracts) configure(cfg *partnerkit.Config) {
	cfg.Limits.LimitsFor = func(_ context.Context, call ratelimit.Call) ratelimit.CallLimits {
		p := c.plan(call.AppID)
		return ratelimit.CallLimits{
			PerBusiness:     ratelimit.PerMinute(p.PerMinute),
			PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(p.PerDay)},
		}
	}
	cfg.OAuth.MaxConnectionsFor = func(_ context.Context, app partner.App) (int, error) {
		return c.plan(app.ID).Connections, nil
	}
}

// bill returns the cents that an app owes for a month, which is over.
func (c *contracts) bill(ctx context.Context, usage *analytics.Counter, appID string, month time.Time) (int64, error) {
	var bytes int64
	err := usage.EachUsage(ctx, appID, month, month.AddDate(0, 1, -1), func(u callstore.Usage) error {
		bytes += u.Bytes
		return nil
	})
	if err != nil {
		return 0, err
	}
	const gigabyte = 1_000_000_000
	p := c.plan(appID)
	further := max(0, bytes-p.Gigabytes*gigabyte)
	return p.Price + (further+gigabyte-1)/gigabyte*p.PerGigabyte, nil
}

// AN-03, LIM-08: the price list of docs/plans.md.
func TestPlans_AN03_LIM08(t *testing.T) {
	t.Parallel()
	c := &contracts{planOf: map[string]string{}}
	var most = map[string]int{}
	h := partnertest.New(t, c.configure, func(cfg *partnerkit.Config) {
		cfg.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusOK, map[string]string{"data": "none"})
		}}}
		decide := cfg.OAuth.MaxConnectionsFor
		cfg.OAuth.MaxConnectionsFor = func(ctx context.Context, app partner.App) (int, error) {
			n, err := decide(ctx, app)
			most[app.ID] = n
			return n, err
		}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	if most[app.ID] != 5 {
		t.Errorf("AN-03: a starter may have %d connections", most[app.ID])
	}
	first := app.Get("/invoices").Want(http.StatusOK)
	if first.Header.Get("RateLimit-Limit") != "60" {
		t.Errorf("LIM-08: header %v", first.Header)
	}
	c.sign(app.ID, "plus")
	var read int64 = int64(len(first.Body))
	for range 3 {
		read += int64(len(app.Get("/invoices").Want(http.StatusOK).Body))
	}
	month := h.Clock.Now().UTC()
	month = time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	var counted int64
	if err := h.Analytics().EachUsage(t.Context(), app.ID, month, month.AddDate(0, 1, -1), func(u callstore.Usage) error { counted += u.Bytes; return nil }); err != nil || counted != read {
		t.Errorf("AN-03: %d bytes are counted and %d were read, %v", counted, read, err)
	}
	if cents, err := c.bill(t.Context(), h.Analytics(), app.ID, month); err != nil || cents != 245_00 {
		t.Errorf("AN-03: the bill is %d, %v", cents, err)
	}
	h.Analytics().Count(analytics.Call{AppID: app.ID, BusinessID: partnertest.Business, At: h.Clock.Now(), Status: http.StatusOK, Bytes: 51_000_000_000})
	if cents, err := c.bill(t.Context(), h.Analytics(), app.ID, month); err != nil || cents != 245_00+2*240 {
		t.Errorf("AN-03: the bill is %d, %v", cents, err)
	}
}
