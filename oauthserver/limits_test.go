package oauthserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// limited wants OLIM-04's response and returns the wait.
func (a apiResponse) limited() int {
	a.Helper()
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 {
		a.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	a.refused(http.StatusTooManyRequests, "temporarily_unavailable", fmt.Sprintf("too many requests, retry after %d seconds", wait))
	return wait
}

// until sends while the response is not a 429, and returns how many passed. The
// clock stands still, so that all fall into one window.
func (k *apiHarness) until(limit int, send func(i int) apiResponse) int {
	k.Helper()
	for i := range limit + 1 {
		if got := send(i); got.Status == http.StatusTooManyRequests {
			got.limited()
			return i
		}
	}
	return limit + 1
}

// OLIM-01, OLIM-03: what passes in one window, by endpoint and kind.
func TestEndpointLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit int
		send  func(k *apiHarness, i int) apiResponse
	}{
		"token, secret in Basic": {600, func(k *apiHarness, _ int) apiResponse { return k.token(k.as(confidentialID)) }},
		"token, secret in body": {600, func(k *apiHarness, _ int) apiResponse {
			return k.token(nil, "client_id", confidentialID, "client_secret", apiSecret)
		}},
		"token, public": {300, func(k *apiHarness, _ int) apiResponse { return k.token(k.as(publicID)) }},
		"token, refused before": {300, func(k *apiHarness, _ int) apiResponse {
			return k.post("/oauth/token?client_id=x", nil, "client_id", publicID)
		}},
		"token, any": {1200, func(k *apiHarness, i int) apiResponse {
			return k.post("/oauth/token?client_id=x", nil, "client_id", strconv.Itoa(i))
		}},
		"token, unreadable":    {1200, func(k *apiHarness, _ int) apiResponse { return k.send("POST", "/oauth/token", "x") }},
		"introspect, secret":   {600, func(k *apiHarness, _ int) apiResponse { return k.post("/oauth/introspect", k.as(confidentialID)) }},
		"introspect, any":      {1200, func(k *apiHarness, _ int) apiResponse { return k.send("POST", "/oauth/introspect", "x") }},
		"revoke, secret":       {600, func(k *apiHarness, _ int) apiResponse { return k.post("/oauth/revoke", k.as(confidentialID)) }},
		"revoke, public":       {300, func(k *apiHarness, _ int) apiResponse { return k.post("/oauth/revoke", k.as(publicID)) }},
		"revoke, no client_id": {1200, func(k *apiHarness, _ int) apiResponse { return k.post("/oauth/revoke", nil, "token", "x") }}, // REV-04
		"device":               {30, func(k *apiHarness, _ int) apiResponse { return k.post("/oauth/device/authorize", k.as(confidentialID)) }},
		"device, JSON":         {30, func(k *apiHarness, _ int) apiResponse { return k.postJSON("/oauth/device/authorize", "{") }},
		"register":             {30, func(k *apiHarness, _ int) apiResponse { return k.postJSON("/oauth/register", "{}") }},
		"token, other method":  {1200, func(k *apiHarness, _ int) apiResponse { return k.send("GET", "/oauth/token", "") }},
		"device, other method": {30, func(k *apiHarness, _ int) apiResponse { return k.send("PUT", "/oauth/device/authorize", "") }},
		"register, unreadable": {30, func(k *apiHarness, _ int) apiResponse { return k.postJSON("/oauth/register", "{") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			if passed := k.until(test.limit, func(i int) apiResponse { return test.send(k, i) }); passed != test.limit {
				t.Errorf("%d passed, want %d", passed, test.limit)
			}
			// Another address has counters of its own.
			k.ip = "198.51.100.7"
			if got := test.send(k, 0); got.Status == http.StatusTooManyRequests && !strings.HasPrefix(name, "token, secret") {
				t.Errorf("another address: %d", got.Status)
			}
			// After one minute the limit is restored, for every phase of the window.
			k.ip = "192.0.2.1"
			k.Clock.Advance(time.Minute)
			if got := test.send(k, 0); got.Status == http.StatusTooManyRequests {
				t.Errorf("a minute later: %d", got.Status)
			}
		})
	}
}

// OLIM-01: token, introspection and revocation count each for itself, and with a
// secret apart from without.
func TestEndpointLimitsAreSeparate(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	k.until(300, func(int) apiResponse { return k.token(k.as(publicID)) })
	k.until(300, func(int) apiResponse { return k.token(withBasic(confidentialID, ""), "grant_type", "x") })
	k.token(k.as(publicID)).limited()
	k.token(withBasic(publicID, "x")).refused(http.StatusUnauthorized, "invalid_client", "*")
	if got := k.post("/oauth/revoke", k.as(publicID), "token", "x"); got.Status != http.StatusOK {
		t.Errorf("revoke: %d", got.Status)
	}
	k.ip = "198.51.100.1"
	k.token(k.as(confidentialID), "grant_type", "x").passed()
	for range 30 {
		k.post("/oauth/revoke", nil, "client_id", confidentialID).refused(http.StatusUnauthorized, "invalid_client", "*")
	}
	if passed := k.until(600, func(int) apiResponse { return k.post("/oauth/revoke", k.as(confidentialID), "token", "x") }); passed != 600 {
		t.Errorf("%d with the secret passed after 30 without, want 600", passed)
	}
}

// OLIM-02: after the secret was proved, 600 per client from everywhere, at the
// token endpoint alone; without the secret nothing counts there.
func TestClientLimit(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	send := func(i int) apiResponse {
		k.ip = "192.0.2." + strconv.Itoa(i%100)
		return k.token(k.as(confidentialID), "grant_type", "x")
	}
	for i := range 100 { // wrong secrets prove nothing
		k.ip = "203.0.113." + strconv.Itoa(i)
		k.token(withBasic(confidentialID, "x"), "grant_type", "x").refused(http.StatusUnauthorized, "invalid_client", "*")
	}
	if passed := k.until(600, send); passed != 600 {
		t.Errorf("%d passed, want 600", passed)
	}
	k.ip = "198.51.100.1"
	k.post("/oauth/introspect", k.as(confidentialID), "token", "x").ok("active")
	for i := range 700 {
		k.ip = "192.0.2." + strconv.Itoa(i%100)
		k.token(k.as(publicID), "grant_type", "x").passed()
	}
}

// OLIM-05: only a trusted proxy determines the client address.
func TestLimitsBehindSpoofedHeader(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	passed := k.until(30, func(i int) apiResponse {
		return k.postJSON("/oauth/register", "{}", withHeader("X-Forwarded-For", "203.0.113."+strconv.Itoa(i)), withHeader("Forwarded", "for=203.0.113.9"))
	})
	if passed != 30 {
		t.Errorf("%d passed", passed)
	}
}

// lockEndpoints are the endpoints with lockouts, each with a failing and a good
// request.
func lockEndpoints() map[string]string {
	return map[string]string{
		"/oauth/token": "grant_type=x", "/oauth/revoke": "token=x", "/oauth/introspect": "token=x",
	}
}

// LOCK-01, LOCK-04, LOCK-05: the 31st failure of a pair is still a 401, the next
// request a 429, right secret or not, for 60 seconds that refusals do not extend,
// and at this endpoint alone.
func TestPairLockout(t *testing.T) {
	t.Parallel()
	for path := range lockEndpoints() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			for range 31 {
				k.post(path, withBasic(confidentialID, "x"), "token", "x").refused(http.StatusUnauthorized, "invalid_client", "*")
			}
			if wait := k.post(path, k.as(confidentialID), "token", "x").limited(); wait != 60 {
				t.Errorf("Retry-After %d", wait)
			}
			// Another client of the same address, another address of the client,
			// and the other endpoints are not touched.
			k.addApp("cli_other", partner.Confidential)
			if got := k.post(path, withBasic("cli_other", apiSecret), "token", "x"); got.Status == http.StatusTooManyRequests {
				t.Error("another client is locked out")
			}
			for other := range lockEndpoints() {
				if got := k.post(other, k.as(confidentialID), "token", "x"); (got.Status == http.StatusTooManyRequests) != (other == path) {
					t.Errorf("%s: %d", other, got.Status)
				}
			}
			k.ip = "198.51.100.1"
			if got := k.post(path, k.as(confidentialID), "token", "x"); got.Status == http.StatusTooManyRequests {
				t.Error("another address is locked out")
			}
			k.ip = "192.0.2.1"
			k.Clock.Advance(59 * time.Second)
			if wait := k.post(path, k.as(confidentialID), "token", "x").limited(); wait != 1 {
				t.Errorf("Retry-After %d after 59 s", wait)
			}
			k.Clock.Advance(time.Second)
			if got := k.post(path, k.as(confidentialID), "token", "x"); got.Status == http.StatusTooManyRequests {
				t.Error("still locked out after 60 s")
			}
		})
	}
}

// LOCK-01, LOCK-02: failures at the same moment get as many 401s as failures one after
// the other. Those that a pair's lockout refuses do not count for the address.
func TestConcurrentFailures_LOCK01(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	flood := func(clientID func(i int) string) (failed int) {
		responses := make([]apiResponse, 250)
		testdb.Race(len(responses), func(i int) { responses[i] = k.token(withBasic(clientID(i), "x")) })
		for _, response := range responses {
			if response.Status == http.StatusUnauthorized {
				failed++
				continue
			}
			response.limited()
		}
		return failed
	}
	if n := flood(func(int) string { return confidentialID }); n != 31 {
		t.Errorf("%d failures of one client, want 31", n)
	}
	k.token(k.as(publicID), "grant_type", "x").passed()
	if n := flood(func(i int) string { return fmt.Sprint("client-", i) }); n != 70 {
		t.Errorf("%d more failures of one address, want 70", n)
	}
	k.token(k.as(publicID), "grant_type", "x").limited()
}

// LOCK-01: a client has one count, however its requests spell it, send a secret or
// leave it out.
func TestPairLockoutOfAliases(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	failures := []func() apiResponse{
		func() apiResponse { return k.token(withBasic(confidentialID, "x")) },
		func() apiResponse { return k.token(withBasic(confidentialID, "")) },
		func() apiResponse { return k.token(nil, "client_id", confidentialID) },
		func() apiResponse { return k.token(nil, "client_id", confidentialID, "client_secret", "x") },
		func() apiResponse {
			return k.token(func(r *http.Request) { r.SetBasicAuth("%63"+confidentialID[1:], "x") })
		},
	}
	for i := range 31 {
		failures[i%len(failures)]().refused(http.StatusUnauthorized, "invalid_client", "*")
	}
	k.token(k.as(confidentialID), "grant_type", "x").limited()
	for _, fail := range failures {
		fail().limited()
	}
}

// LOCK-01, OLIM-01: a request whose body cannot be read counts for the client of its header,
// and a lockout refuses it.
func TestUnreadableBodyCountsForClient(t *testing.T) {
	t.Parallel()
	unreadable := func(r *http.Request) {
		r.SetBasicAuth(confidentialID, apiSecret)
		r.Header.Set("Content-Type", "text/plain")
	}
	for path := range lockEndpoints() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			for range 600 {
				k.post(path, unreadable, "token", "x").refused(http.StatusBadRequest, "invalid_request", "*")
			}
			k.post(path, unreadable, "token", "x").limited()
			k.Clock.Advance(2 * time.Minute)
			for range 31 {
				k.post(path, withBasic(confidentialID, "x"), "token", "x").refused(http.StatusUnauthorized, "invalid_client", "*")
			}
			k.post(path, unreadable, "token", "x").limited()
		})
	}
}

// LOCK-01, LOCK-05: any minute counts, wherever it begins. A failure counts for a minute.
func TestPairLockoutMinute(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	fail := func(times int) {
		for range times {
			k.token(withBasic(confidentialID, "x")).refused(http.StatusUnauthorized, "invalid_client", "*")
		}
	}
	fail(30)
	k.Clock.Advance(time.Minute)
	fail(30)
	k.token(k.as(confidentialID), "grant_type", "x").passed()

	k.Clock.Advance(time.Hour)
	fail(1)
	k.Clock.Advance(56 * time.Second)
	fail(29)
	k.Clock.Advance(5 * time.Second)
	fail(2)
	k.token(k.as(confidentialID), "grant_type", "x").limited()
	k.Clock.Advance(20 * time.Second)
	got := k.token(k.as(confidentialID), "grant_type", "x")
	got.limited()
	if after := got.Header.Get("Retry-After"); after != "40" {
		t.Errorf("Retry-After %q, want what is left of the minute", after)
	}
	k.Clock.Advance(40 * time.Second)
	k.token(k.as(confidentialID), "grant_type", "x").passed()
}

// LOCK-02: more than 100 failures of one address, across clients and without
// one, lock the address out.
func TestAddressLockout(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(k *apiHarness, i int) apiResponse{
		"unknown clients": func(k *apiHarness, i int) apiResponse { return k.token(nil, "client_id", "cli_"+strconv.Itoa(i)) },
		"no client_id":    func(k *apiHarness, _ int) apiResponse { return k.token(nil) },
		"malformed Basic": func(k *apiHarness, _ int) apiResponse { return k.token(withHeader("Authorization", "Basic")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			for i := range 101 {
				fail(k, i).refused(http.StatusUnauthorized, "invalid_client", "*")
			}
			k.token(k.as(confidentialID)).limited()
			k.token(k.as(publicID)).limited()
			k.send("POST", "/oauth/token", "unreadable").limited()
			if got := k.post("/oauth/revoke", k.as(publicID), "token", "x"); got.Status != http.StatusOK {
				t.Errorf("LOCK-04: revoke %d", got.Status)
			}
			k.ip = "2001:db8::1"
			k.token(k.as(publicID), "grant_type", "x").passed()
			k.ip = "192.0.2.1"
			k.Clock.Advance(time.Minute)
			k.token(k.as(publicID), "grant_type", "x").passed()
		})
	}
}

// LOCK-05: at device authorize the limit per address comes first within a
// minute; over several, the lockout is there.
func TestDeviceLockout(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	limiter, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	k.Must(err)
	k = newAPIHarness(t, func(c *oauthserver.Config) { c.Limiter = uncounted{limiter} })
	for range 31 {
		k.post("/oauth/device/authorize", withBasic(publicID, "x")).refused(http.StatusUnauthorized, "invalid_client", "*")
	}
	k.post("/oauth/device/authorize", k.as(publicID)).limited()
	k.token(k.as(publicID), "grant_type", "x").passed() // LOCK-04
}

// uncounted is a limiter without counters, to see the lockouts behind them.
type uncounted struct{ ratelimit.Limiter }

func (u uncounted) Check(ctx context.Context, now time.Time, asked ratelimit.Request) (ratelimit.Result, error) {
	asked.Counters = ratelimit.Counters{}
	return u.Limiter.Check(ctx, now, asked)
}

// LOCK-05: what is a failure, and what is not.
func TestWhatLocksOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		send  func(k *apiHarness) apiResponse
		locks bool
	}{
		"wrong secret":    {func(k *apiHarness) apiResponse { return k.token(withBasic(publicID, "x")) }, true},
		"suspended":       {func(k *apiHarness) apiResponse { return k.token(k.as(publicID)) }, true},
		"public exchange": {func(k *apiHarness) apiResponse { return k.token(k.as(publicID), "grant_type", exchangeGrant) }, true},
		"invalid_request": {func(k *apiHarness) apiResponse { return k.token(k.as(publicID)) }, false},
		"invalid_grant":   {func(k *apiHarness) apiResponse { return k.redeem(publicID, "x") }, false},
		"unsupported":     {func(k *apiHarness) apiResponse { return k.token(k.as(publicID), "grant_type", "x") }, false},
		"success":         {func(k *apiHarness) apiResponse { _, r := k.tokens(publicID); return k.refresh(publicID, r) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			if name == "suspended" {
				k.Must(k.OAuth.SetAppStatus(t.Context(), k.app(publicID).ID, partner.AppSuspended))
			}
			for range 31 {
				test.send(k)
			}
			if got := k.token(k.as(publicID), "grant_type", "x"); (got.Status == http.StatusTooManyRequests) != test.locks {
				t.Errorf("after 31: %d", got.Status)
			}
		})
	}
}

// CIMD-02, LOCK-05: a metadata document that cannot be fetched is a 401 response and does
// not count as a failed guess.
func TestDocumentOutageLocksNobodyOut(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.Documents.AllowLoopback = true })
	for range 101 {
		k.token(nil, "client_id", "https://127.0.0.1:1/client", "grant_type", "x").refused(http.StatusUnauthorized, "invalid_client", "client authentication failed")
	}
	k.token(nil, "client_id", "https://127.0.0.1:1/client", "grant_type", "x").refused(http.StatusUnauthorized, "invalid_client", "*")
	k.token(k.as(publicID), "grant_type", "x").passed()
}

// LOCK-03: a caller that is locked out, or over its limit, costs no statement.
func TestLockedOutCostsNothing(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for range 31 {
		k.token(withBasic(confidentialID, "x"))
	}
	k.Store.Tap.Reset()
	k.token(k.as(confidentialID)).limited()
	if statements, _ := k.Store.Tap.Counts(); statements != 0 {
		t.Errorf("%d statements", statements)
	}
}

// brokenLimiter cannot tell.
type brokenLimiter struct{ failures bool }

func (b brokenLimiter) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	if b.failures {
		return ratelimit.Result{Allowed: true}, nil
	}
	return ratelimit.Result{}, fmt.Errorf("%w: no answer", ratelimit.ErrUnavailable)
}

func (b brokenLimiter) Fail(context.Context, time.Time, ratelimit.Lockouts) (ratelimit.Result, error) {
	return ratelimit.Result{}, fmt.Errorf("%w: no answer", ratelimit.ErrUnavailable)
}

func (b brokenLimiter) Forgive(context.Context, time.Time, ratelimit.Lockouts) error {
	return fmt.Errorf("%w: no answer", ratelimit.ErrUnavailable)
}

// A limiter that may not guess is a 5xx, at every endpoint, and so is a failure
// that cannot be counted.
func TestLimiterUnavailable(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.Limiter = brokenLimiter{} })
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/device/authorize", "/oauth/register"} {
		k.post(path, k.as(confidentialID), "token", "x").refused(http.StatusServiceUnavailable, "server_error", "*")
	}
	if got := k.send("GET", "/.well-known/oauth-authorization-server", ""); got.Status != http.StatusServiceUnavailable || got.keys() != "error message params statusCode" {
		t.Errorf("metadata: %d %s", got.Status, got.Body)
	}
	k = newAPIHarness(t, func(c *oauthserver.Config) { c.Limiter = brokenLimiter{failures: true} })
	k.token(withBasic(confidentialID, "x")).refused(http.StatusServiceUnavailable, "server_error", "*")
}
