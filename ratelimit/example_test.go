package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// A token endpoint asks once for the limits of an address, those of an address
// and client, and both lockouts.
func Example() {
	limiter, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	proxies, err := ratelimit.NewProxies([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	if err != nil {
		fmt.Println(err)
		return
	}

	r := httptest.NewRequest(http.MethodPost, "/oauth/token", nil)
	r.RemoteAddr = "10.0.0.1:443"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	ip := proxies.ClientIP(r)

	pair, all := ratelimit.NewIPKey("token", ip, "app_1"), ratelimit.NewIPKey("token", ip)
	req := ratelimit.Request{
		Counters: ratelimit.Counters{
			{Key: pair, Limit: ratelimit.DefaultLimits().OAuthWithSecret},
			{Key: all, Limit: ratelimit.DefaultLimits().OAuthPerIP},
		},
		Lockouts: ratelimit.Lockouts{
			{Key: pair, Rule: ratelimit.DefaultLimits().AuthFailures},
			{Key: all, Rule: ratelimit.DefaultLimits().AuthFailuresPerIP},
		},
	}

	ctx, now := context.Background(), time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 31 { // wrong secrets, each responded with 401
		if res, err := limiter.Check(ctx, now, req); err != nil || !res.Allowed {
			fmt.Println("refused too early", res, err)
		}
		if _, err := limiter.Fail(ctx, now, req.Lockouts); err != nil {
			fmt.Println(err)
		}
	}
	res, err := limiter.Check(ctx, now.Add(15*time.Second), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{}
	res.WriteHeader(h)
	fmt.Println(ip, res.Allowed, res.Refusal, h.Get("Retry-After"))
	// Output: 192.0.2.1 false lockout 45
}
