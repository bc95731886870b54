package oauthserver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

func callerNumber(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)})
}

// CIMD-02: however many ask at once, the document is fetched once.
func TestDocumentSingleFlight_CIMD02(t *testing.T) {
	t.Parallel()
	for range testenv.Rounds(5, 100) {
		r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
		const n = 50 // more than one caller's budget: waiting for a fetch under way costs nothing
		errs := make([]error, n)
		testdb.Race(n, func(i int) {
			lookup := r.LookupForConsent
			if i%2 == 1 {
				lookup = r.LookupForTokens
			}
			_, errs[i] = lookup(t.Context(), site.URL, documentCaller)
		})
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if got := site.hits.Load(); got != 1 {
			t.Errorf("%d fetches", got)
		}
	}
}

// CIMD-02: when the caller that started a fetch leaves, the waiting callers are not affected.
func TestDocumentFlightOutlivesItsFirst_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived) // twice would panic: one fetch
		<-release
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Tool","redirect_uris":["https://tool.example/"]}`, site.URL)
	})
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() {
		_, err := r.LookupForConsent(ctx, site.URL, documentCaller)
		first <- err
	}()
	<-arrived
	go func() {
		_, err := r.LookupForConsent(t.Context(), site.URL, callerNumber(1))
		second <- err
	}()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) || errors.Is(err, oauthserver.ErrLookupDocument) {
		t.Errorf("the one who left: %v", err)
	}
	close(release)
	if err := <-second; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
	if n := site.hits.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// CIMD-02: one caller causes at most 30 fetches a minute; its rejected requests cost other
// callers nothing.
func TestDocumentBudgetOfACaller_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	site.fail(http.StatusInternalServerError)
	ask := func(caller netip.Addr, times int) (fetches int32) {
		before := site.hits.Load()
		for i := range times {
			_, err := r.LookupForConsent(t.Context(), fmt.Sprintf("%s?%d", site.URL, i), caller)
			wantDocument(t, "a failing host", err)
		}
		return site.hits.Load() - before
	}
	if got := ask(documentCaller, 200); got != 30 {
		t.Errorf("one caller: %d fetches", got)
	}
	if got := ask(callerNumber(1), 30); got != 30 {
		t.Errorf("another caller, after 170 refusals: %d fetches", got)
	}
	r.clock.Advance(time.Minute)
	if got := ask(documentCaller, 10); got != 10 {
		t.Errorf("a minute later: %d fetches", got)
	}
}

// CIMD-02: a host gets 60 fetches a minute from all callers together; a known client of
// that host can still be refreshed.
func TestDocumentBudgetOfAHost_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	if _, err := r.consent(t, site.URL); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(time.Hour)
	before := site.hits.Load()
	for i := range 200 {
		_, err := r.LookupForConsent(t.Context(), fmt.Sprintf("%s?%d", site.URL, i), callerNumber(i))
		wantDocument(t, "not its client_id", err)
	}
	if got := site.hits.Load() - before; got != 60 {
		t.Errorf("%d fetches", got)
	}
	if _, err := r.consent(t, site.URL); err != nil {
		t.Errorf("a known client: %v", err)
	}
	elsewhere := newDocSite(t) // another port of the same host
	_, err := r.consent(t, elsewhere.URL)
	wantDocument(t, "another port", err)
	r.clock.Advance(time.Minute)
	if _, err := r.consent(t, elsewhere.URL); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// CIMD-02: without budget the last good document serves, as after any failure.
func TestLastGoodDocumentWithoutBudget_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	if _, err := r.consent(t, site.URL); err != nil {
		t.Fatal(err)
	}
	site.fail(http.StatusInternalServerError)
	r.clock.Advance(time.Hour)
	for range 100 {
		if _, err := r.tokens(t, site.URL); err != nil {
			t.Fatal(err)
		}
	}
	if n := site.hits.Load(); n != 31 {
		t.Errorf("%d fetches", n)
	}
}

// CIMD-02: a first caller without budget does not fail the waiting callers.
func TestBudgetIsOnesOwn_CIMD02(t *testing.T) {
	t.Parallel()
	site := newDocSite(t)
	limiter := &slowLimiter{entered: make(chan struct{}), release: make(chan struct{})}
	r := newDocumentHarness(t, func(c *oauthserver.Config) {
		onLoopback(c)
		c.Limiter = limiter
	})
	poor, other := make(chan error), make(chan error)
	go func() {
		_, err := r.consent(t, site.URL)
		poor <- err
	}()
	<-limiter.entered // the poor one leads, and waits for its refusal
	r.env.Tap.Reset()
	go func() {
		_, err := r.LookupForConsent(t.Context(), site.URL, callerNumber(1))
		other <- err
	}()
	for n := 0; n == 0; n, _ = r.env.Tap.Counts() { // until the other one has looked
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond) // to let it join; the test passes if it is late
	close(limiter.release)
	wantDocument(t, "the one without budget", <-poor)
	if err := <-other; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
}

// slowLimiter rejects only its first request, once release is closed.
type slowLimiter struct {
	ratelimit.Limiter
	once             sync.Once
	entered, release chan struct{}
}

func (l *slowLimiter) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	result := ratelimit.Result{Allowed: true}
	l.once.Do(func() {
		close(l.entered)
		<-l.release
		result.Allowed = false
	})
	return result, nil
}

// CIMD-02: a fetch that ends after a caller has read the store and before that caller
// starts its own fetch is not repeated.
func TestDocumentFlightThatJustLanded_CIMD02(t *testing.T) {
	t.Parallel()
	site := newDocSite(t)
	late := &lateStore{}
	r := newDocumentHarness(t, func(c *oauthserver.Config) {
		onLoopback(c)
		late.Store = c.Store
		c.Store = late
	})
	late.after = func() {
		if _, err := r.LookupForConsent(t.Context(), site.URL, callerNumber(1)); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.consent(t, site.URL); err != nil {
		t.Error(err)
	}
	if n := site.hits.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// lateStore runs a function after the first lookup, before the lookup returns its result.
type lateStore struct {
	oauthstore.Store
	first atomic.Bool
	after func()
}

func (s *lateStore) Client(ctx context.Context, clientID string) (oauthstore.Client, error) {
	client, err := s.Store.Client(ctx, clientID)
	if s.first.CompareAndSwap(false, true) {
		s.after()
	}
	return client, err
}

// An error of the limiter is an internal error, and nothing is fetched.
func TestDocumentBudgetFault(t *testing.T) {
	t.Parallel()
	site := newDocSite(t)
	r := newDocumentHarness(t, func(c *oauthserver.Config) {
		onLoopback(c)
		c.Limiter = lostLimiter{}
	})
	_, err := r.consent(t, site.URL)
	if !errors.Is(err, oauthserver.ErrInternal) || !errors.Is(err, ratelimit.ErrUnavailable) || errors.Is(err, oauthserver.ErrLookupDocument) {
		t.Errorf("%v", err)
	}
	if n := site.hits.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

type lostLimiter struct{ ratelimit.Limiter }

func (lostLimiter) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{}, ratelimit.ErrUnavailable
}

// CIMD-02, DLV-07: names that lead to addresses which are not public are not
// dialled, and tell the caller no more than any other failure.
func TestDocumentAddresses_CIMD02(t *testing.T) {
	t.Parallel()
	refused := []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1",
		"169.254.169.254", "100.64.0.1", "168.63.129.16", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
		"224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
		"64:ff9b:1::1", "2002:7f00:1::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
	}
	for _, address := range append(refused, "93.184.216.34") {
		below := &dialNotes{}
		client, err := outbound.New(outbound.Config{Resolver: oneAddress(netip.MustParseAddr(address)), Dial: below.dial})
		mustDo(t, err)
		r := newDocumentHarness(t, nil)
		r.UseDocumentClient(client)
		_, err = r.consent(t, "https://tool.example/client.json")
		wantDocument(t, address, err)
		want := 0
		if address == "93.184.216.34" {
			want = 1 // the guard is not merely closed
		}
		if got := below.count(); got != want {
			t.Errorf("%s: dialled %d times", address, got)
		}
	}
	// URLs with an IP address as the host are not client ids at all.
	r := newDocumentHarness(t, nil)
	for _, address := range refused {
		host := address
		if netip.MustParseAddr(address).Is6() {
			host = "[" + address + "]"
		}
		if _, err := r.consent(t, "https://"+host+"/client.json"); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// CIMD-03: loopback is for development.
func TestDocumentOnLoopback_CIMD03(t *testing.T) {
	t.Parallel()
	site := newDocSite(t)
	r := newDocumentHarness(t, nil)
	if _, err := r.consent(t, site.URL); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if n := site.hits.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

type oneAddress netip.Addr

func (a oneAddress) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.Addr(a)}, nil
}

// dialNotes stands below the guard and lets nothing out.
type dialNotes struct {
	mu     sync.Mutex
	dialed []string
}

func (n *dialNotes) dial(_ context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed = append(n.dialed, address)
	return nil, errors.New("no network in tests")
}

func (n *dialNotes) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.dialed)
}
