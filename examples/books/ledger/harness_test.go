package ledger_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// harness is the ledger behind idempotency, on a real store. The gates in front of it
// are the server's to test.
type harness struct {
	testing.TB
	store  *testdb.Env
	clock  *clock.Manual
	plan   ledger.Plan // of every business
	ledger *ledger.Ledger
	api    http.Handler
}

// Plan implements ledger.Plans.
func (k *harness) Plan(context.Context, string) (ledger.Plan, error) { return k.plan, nil }

func (k *harness) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func newHarness(t testing.TB, open testdb.Opener) *harness {
	t.Helper()
	k := &harness{TB: t, store: testdb.NewEnv(t, open), clock: clock.NewManual(start), plan: ledger.Plan{Name: "PAID", Currency: "EUR"}}
	tx, err := k.store.BeginTx(t.Context())
	k.must(err)
	defer tx.Rollback()
	k.must(ledger.CreateTables(t.Context(), tx))
	k.must(ledger.CreateTables(t.Context(), tx)) // as the next start does
	k.must(tx.Commit(t.Context()))
	log, err := events.New(events.Config{Store: k.store, Clock: k.clock})
	k.must(err)
	k.ledger, err = ledger.New(ledger.Config{Store: k.store.Store, Events: log, Plans: k, Clock: k.clock})
	k.must(err)
	keys, err := idempotency.New(idempotency.Config{Store: k.store, Clock: k.clock})
	k.must(err)
	mux := http.NewServeMux()
	for _, route := range k.ledger.Routes() {
		mux.Handle(route.Pattern, apierror.Writer{}.Standard(keys.Wrap(route.Handler)))
	}
	k.api = mux
	return k
}

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(k *harness)) {
	t.Parallel()
	for name, open := range map[string]testdb.Opener{"sqlite": testdb.SQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newHarness(t, open))
		})
	}
}

func openPostgres(t testing.TB) storage.DB {
	t.Helper()
	db, err := postgres.OpenDB(t.Context(), testenv.PostgresURL(t), postgres.Config{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// in calls the API for a business, as an app would, a moment after the call before.
func (k *harness) in(businessID, method, path, body string, header ...string) *partnertest.Response {
	k.Helper()
	k.clock.Advance(100 * time.Microsecond)
	r := httptest.NewRequestWithContext(k.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	app := identity.Principal{AppID: "app_1", BusinessID: businessID, UserID: "usr_1", SignIn: identity.SignInOAuth}
	return partnertest.Serve(k.TB, k.api, r.WithContext(identity.WithPrincipal(r.Context(), app)))
}

// call is in for the business of most tests.
func (k *harness) call(method, path, body string, header ...string) *partnertest.Response {
	k.Helper()
	return k.in("biz_1", method, path, body, header...)
}

// want calls and expects a status.
func (k *harness) want(status int, method, path, body string, header ...string) *partnertest.Response {
	k.Helper()
	return k.call(method, path, body, header...).Want(status)
}

// create posts and returns the id of what was made.
func (k *harness) create(path, body string) string {
	k.Helper()
	var made struct{ ID string }
	k.want(http.StatusCreated, "POST", path, body).Decode(&made)
	return made.ID
}

// events are the types and the data of all events of the business, in the order of
// their ids.
func (k *harness) events() (types, data []string) {
	k.Helper()
	k.must(storage.Each(k.Context(), k.store, "SELECT type, data FROM partnerkit_event WHERE business_id = 'biz_1' ORDER BY id", nil, func(scan func(...any) error) error {
		var name, text string
		err := scan(&name, &text)
		types, data = append(types, name), append(data, text)
		return err
	}))
	return types, data
}

// count counts rows of a table.
func (k *harness) count(table string) (n int) {
	k.Helper()
	k.must(storage.One(k.Context(), k.store, "SELECT COUNT(*) FROM "+table, nil, &n))
	return n
}

// used is the counter of the business in a year.
func (k *harness) used(year int) (invoices, turnover int64) {
	k.Helper()
	k.must(storage.One(k.Context(), k.store, `SELECT COALESCE(SUM(invoices), 0), COALESCE(SUM(turnover), 0) FROM (
		SELECT invoices, turnover FROM books_invoice_year WHERE business_id = 'biz_1' AND year = $1) AS years`, []any{year}, &invoices, &turnover))
	return invoices, turnover
}
