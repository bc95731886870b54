package guard_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

// API-09: the way to the handler costs one read, no write, and nothing is cached.
func TestOneReadNoWrite(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	token := k.token()
	for range 3 {
		k.store.Tap.Reset()
		k.send("GET /invoices", bearer(token)).ok()
		if statements, commits := k.store.Tap.Counts(); statements != 1 || commits != 0 {
			t.Errorf("%d statements, %d commits", statements, commits)
		}
	}
	k.store.Tap.Reset()
	k.send("GET /invoices", bearer("malformed"))
	k.send("GET /invoices")
	if statements, _ := k.store.Tap.Counts(); statements != 0 {
		t.Errorf("%d statements for callers without a token that could be one", statements)
	}
}

// listening is a database that remembers the last thing that it was asked.
type listening struct {
	storage.DB
	query   string
	args    []any
	columns int
}

func (l *listening) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	rows, err := l.DB.Query(ctx, query, args...)
	if named, ok := rows.(interface{ Columns() ([]string, error) }); ok && query != l.query {
		columns, _ := named.Columns()
		l.query, l.args, l.columns = query, args, len(columns)
	}
	return rows, err
}

// dest is variables for a row of what was asked, of the types that are in it.
func (l *listening) dest(t testing.TB) []any {
	t.Helper()
	found := make([]any, l.columns)
	dest := make([]any, l.columns)
	for i := range dest {
		dest[i] = &found[i]
	}
	if err := storage.One(t.Context(), l.DB, l.query, l.args, dest...); err != nil {
		t.Fatal(err)
	}
	for i, value := range found {
		dest[i] = new(sql.NullString)
		if _, isNumber := value.(int64); isNumber {
			dest[i] = new(sql.NullInt64)
		}
	}
	return dest
}

// discard is a connection that nobody reads.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkGate shows what the way from a request to its handler costs, beside the
// one statement of it run bare: at most 1.3 times that, and 25 allocations more. The
// two take turns, so that a busy machine slows down both.
func BenchmarkGate(b *testing.B) {
	heard := &listening{}
	open := func(t testing.TB) storage.DB { heard.DB = openMemory(t); return heard }
	k := newKitOn(b, open, func(c *guard.Config) { c.Analytics = nil })
	reached := 0
	k.must(k.surface.Handle(guard.Route{Pattern: "GET /bench", Scope: "invoices:read", Handler: func(http.ResponseWriter, *http.Request) error {
		reached++
		return nil
	}}))
	k.token() // the installation has more scopes than the token, and the app more than that
	_, err := k.store.UpdateApp(b.Context(), k.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.Scopes = identity.DefaultScopes().Requestable()
		return a, nil
	})
	k.must(err)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/bench", http.NoBody)
	renew := func() { // a token lasts an hour
		r.Header.Del("Authorization")
		bearer(k.grant(business, identity.MustScopes("invoices:read", "customers:read", "profile:read")).token)(r)
	}
	renew()
	k.do(r).ok()

	query, args := heard.query, heard.args
	dest := heard.dest(b)
	bare := func() {
		if err := storage.One(b.Context(), heard.DB, query, args, dest...); err != nil {
			b.Fatal(err)
		}
	}
	w := &discard{header: http.Header{}}
	gate := func() {
		clear(w.header)
		k.surface.ServeHTTP(w, r)
	}

	more := testing.AllocsPerRun(200, gate) - testing.AllocsPerRun(200, bare)
	var bareTook, gateTook []time.Duration
	for i := 0; b.Loop(); i++ {
		if i%250 == 0 { // within the limits
			k.clock.Advance(time.Minute)
		}
		if i%10_000 == 0 {
			renew()
		}
		begun := time.Now()
		bare()
		between := time.Now()
		gate()
		ended := time.Now()
		bareTook, gateTook = append(bareTook, between.Sub(begun)), append(gateTook, ended.Sub(between))
	}
	// The median: what a busy machine interrupted does not move it.
	slices.Sort(bareTook)
	slices.Sort(gateTook)
	bareNS, gateNS := float64(bareTook[len(bareTook)/2]), float64(gateTook[len(gateTook)/2])
	ratio := gateNS / bareNS
	b.ReportMetric(bareNS, "bare-ns")
	b.ReportMetric(gateNS, "gate-ns")
	b.ReportMetric(ratio, "gate/bare")
	b.ReportMetric(more, "more-allocs")
	if reached <= b.N {
		b.Fatal("the handler was not reached")
	}
	if os.Getenv("PARTNERKIT_BARS") != "" && (ratio > 1.3 || more > 25) {
		b.Error("a bar is missed: gate/bare 1.3, more-allocs 25")
	}
}
