package guard

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// limitName is the limit that rejected a call, for the metric.
type limitName string

const (
	limitBusiness limitName = "app and business"
	limitApp      limitName = "app"
	limitRoute    limitName = "route"
	limitAddress  limitName = "address"
)

// limit counts the call and refuses it when a limit is used up, in one question to
// the limiter. It notes what the RateLimit headers will say.
func (s *Surface) limit(c *call, r *http.Request) error {
	result, err := s.cfg.Limiter.Check(r.Context(), c.now, ratelimit.Request{Counters: s.counters(c, r)})
	if err != nil {
		return apierror.Failed("rate limit", err)
	}
	if c.isOAuth() {
		c.quota = quotaOf(result)
	}
	switch {
	case result.Allowed:
		return nil
	case !c.isOAuth():
		c.refusedBy = limitAddress
		return apierror.TooManyRequests(result.Wait)
	}
	c.refusedBy = [...]limitName{ratelimit.BusinessLimit: limitBusiness, ratelimit.AppLimit: limitApp, ratelimit.RouteLimit: limitRoute}[ratelimit.LimitAt(result.Index)]
	return codes.AppRateLimited.New().WithRetryAfter(result.Wait)
}

// quotaOf returns the limit of the RateLimit headers: the window of the app and business with the
// least left, or that of the route if it leaves no more.
func quotaOf(result ratelimit.Result) ratelimit.Quota {
	var business, route ratelimit.Quota
	for i := range result.Counters {
		quota := &result.Counters[i]
		if quota.Limit == 0 {
			continue
		}
		switch ratelimit.LimitAt(i) {
		case ratelimit.BusinessLimit:
			business = scarcer(business, *quota)
		case ratelimit.RouteLimit:
			route = scarcer(route, *quota)
		}
	}
	if route.Limit > 0 && route.Remaining <= business.Remaining {
		return route
	}
	return business
}

// scarcer returns the quota that leaves less; of two that leave the same the one that does so
// for longer. A zero quota leaves everything.
func scarcer(a, b ratelimit.Quota) ratelimit.Quota {
	if a.Limit == 0 || b.Remaining < a.Remaining || b.Remaining == a.Remaining && b.Reset > a.Reset {
		return b
	}
	return a
}

// counters returns the counters of an app, or the one of an address.
func (s *Surface) counters(c *call, r *http.Request) (counters ratelimit.Counters) {
	if !c.isOAuth() {
		counters[0] = s.cfg.Limits.DefaultAPI(s.cfg.Proxies.ClientIP(r))
		return counters
	}
	who, pattern := c.principal, ""
	if c.route != nil {
		pattern = c.route.Pattern
	}
	call := ratelimit.Call{AppID: who.AppID, ClientID: who.ClientID, BusinessID: who.BusinessID, UserID: who.UserID, Pattern: pattern}
	limits, err := s.cfg.Limits.For(r.Context(), call)
	if err != nil {
		s.cfg.Logger.ErrorContext(r.Context(), "guard: invalid limit exceptions ignored", "err", err)
	}
	return limits.Counters(&call)
}
