package guard

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// limitName says which limit refused, for the metric.
type limitName string

const (
	limitBusiness limitName = "app and business"
	limitApp      limitName = "app"
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
		c.quota = result.Counters[0]
	}
	switch {
	case result.Allowed:
		return nil
	case !c.isOAuth():
		c.refusedBy = limitAddress
		return apierror.TooManyRequests(result.Wait)
	}
	c.refusedBy = [...]limitName{limitBusiness, limitApp}[result.Index]
	return apierror.New(apierror.AppRateLimited).WithRetryAfter(result.Wait)
}

// counters are the two of an app, or the one of an address.
func (s *Surface) counters(c *call, r *http.Request) (counters ratelimit.Counters) {
	if !c.isOAuth() {
		counters[0] = ratelimit.DefaultAPI(s.cfg.Proxies.ClientIP(r))
		return counters
	}
	counters[0] = ratelimit.Counter{
		Key:   ratelimit.NewKey("api business", c.principal.AppID, c.principal.BusinessID),
		Limit: ratelimit.PerMinute(ratelimit.APIPerBusiness),
	}
	counters[1] = ratelimit.Counter{
		Key:   ratelimit.NewKey("api app", c.principal.AppID),
		Limit: ratelimit.PerMinute(ratelimit.APIPerApp),
	}
	return counters
}
