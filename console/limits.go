package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// LimitName names a limit of an app.
type LimitName string

// The limits of an app.
const (
	LimitApp      LimitName = "app"      // calls for all businesses together
	LimitBusiness LimitName = "business" // calls for one business
	LimitRoute    LimitName = "route"    // calls for one business to one route
	LimitToken    LimitName = "token"    // token requests
)

// LimitUse is how much of a limit is used in its current window. A limit with several windows
// has one for each.
type LimitUse struct {
	Name       LimitName
	BusinessID string        // of LimitBusiness and LimitRoute
	Route      string        // of LimitRoute
	Window     time.Duration // each of which allows Limit
	Limit      int
	Used       int // at most Limit
	ResetsAt   time.Time
}

// WindowSeconds returns the length of a window, as JSON shows it: 0 for a minute, which is what
// limits have by default, and at least 1.
func (u LimitUse) WindowSeconds() int {
	if u.Window == time.Minute {
		return 0
	}
	return int(max(time.Second, u.Window) / time.Second)
}

// LimitUses returns the use of each limit of an app. A business id selects the limits of that
// business and, where it has any, the limits of the routes called by the app today; without
// one they are the limits of the businesses with the most calls today. It returns nothing if the
// Limiter cannot be read. Its error is a 404 of apierror, or the Limiter's.
func (c *Console) LimitUses(ctx context.Context, by Actor, appID, businessID string) ([]LimitUse, error) {
	app, err := c.App(ctx, by, appID)
	if err != nil {
		return nil, err
	}
	return c.AppLimitUses(ctx, app, businessID)
}

// AppLimitUses is [Console.LimitUses] for the platform's own staff: without an Actor, for any
// app.
func (c *Console) AppLimitUses(ctx context.Context, app partner.App, businessID string) ([]LimitUse, error) {
	peeker, ok := c.cfg.Limiter.(ratelimit.Peeker)
	if !ok {
		return nil, nil
	}
	uses, counters, err := c.limitCounters(ctx, app, businessID)
	if err != nil {
		return nil, err
	}
	now := c.cfg.Clock.Now()
	quotas, err := peeker.Peek(ctx, now, counters)
	if err != nil {
		return nil, err
	}
	for i, quota := range quotas {
		uses[i].Limit, uses[i].Used, uses[i].ResetsAt = quota.Limit, quota.Limit-quota.Remaining, now.Add(quota.Reset)
	}
	return uses, nil
}

// limitCounters returns the limits of an app, each with its counter.
func (c *Console) limitCounters(ctx context.Context, app partner.App, businessID string) (uses []LimitUse, counters []ratelimit.Counter, err error) {
	add := func(use LimitUse, counter ratelimit.Counter) {
		use.Window = counter.Limit.Window
		uses, counters = append(uses, use), append(counters, counter)
	}
	of := func(businessID, route string) ratelimit.Counters {
		call := ratelimit.Call{AppID: app.ID, ClientID: app.ClientID, BusinessID: businessID, Pattern: route}
		limits, _ := c.cfg.Limits.For(ctx, call) // the guard logs exceptions that make no sense
		return limits.Counters(&call)
	}
	each := func(use LimitUse, limit ratelimit.CallLimit, counters ratelimit.Counters) {
		for i := range counters {
			if ratelimit.LimitAt(i) == limit && counters[i].IsUsed() {
				add(use, counters[i])
			}
		}
	}
	each(LimitUse{Name: LimitApp}, ratelimit.AppLimit, of(businessID, ""))
	add(LimitUse{Name: LimitToken}, c.cfg.Limits.TokenRequests(app.ClientID))
	if businessID == "" {
		busiest, err := c.cfg.Analytics.Groups(ctx, c.lastDays(app.ID, callstore.ByBusiness, 1))
		for _, g := range busiest {
			each(LimitUse{Name: LimitBusiness, BusinessID: g.Key}, ratelimit.BusinessLimit, of(g.Key, ""))
		}
		return uses, counters, err
	}
	each(LimitUse{Name: LimitBusiness, BusinessID: businessID}, ratelimit.BusinessLimit, of(businessID, ""))
	routes, err := c.cfg.Analytics.Groups(ctx, c.lastDays(app.ID, callstore.ByRoute, 1))
	for _, g := range routes {
		each(LimitUse{Name: LimitRoute, BusinessID: businessID, Route: g.Key}, ratelimit.RouteLimit, of(businessID, g.Key))
	}
	return uses, counters, err
}

type limitPayload struct {
	Name       LimitName  `json:"name"`
	BusinessID string     `json:"businessId,omitempty"`
	Route      string     `json:"route,omitempty"`
	Limit      int        `json:"limit"`
	Window     int        `json:"windowSeconds,omitempty"` // left out for a minute
	Used       int        `json:"used"`
	ResetsAt   stamp.Time `json:"resetsAt"`
}

func newLimitPayload(u LimitUse) limitPayload {
	return limitPayload{Name: u.Name, BusinessID: u.BusinessID, Route: u.Route, Limit: u.Limit, Window: u.WindowSeconds(), Used: u.Used, ResetsAt: stamp.Of(u.ResetsAt)}
}

func (c *Console) listLimits(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	businessID := q.Text("businessId")
	if err := q.Err(); err != nil {
		return err
	}
	uses, err := c.LimitUses(r.Context(), by, r.PathValue("appId"), businessID)
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, uses, newLimitPayload)
}
