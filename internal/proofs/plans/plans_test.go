package plans_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/partnerkit/partnerkit/internal/grown"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// rows is the number of rows of each kind: enough for a planner not to choose a full scan.
const rows = 40_000

// small are the tables whose rows people create by hand, and the tables that hold one row
// for a process. All other tables grow with use.
var small = map[string]bool{
	"app": true, "client_secret": true, "webhook": true, "app_data_field": true, "signing_key": true, "listing_revision": true, "trusted_document": true,
	"asset": true, "extension": true, "function": true, "listing_slug": true,
	"shard": true, "dispatcher": true, "calls_writer": true, "clock": true, "migration": true,
	"outbox": true, "queue_news": true, "sharding": true, // nearly empty, unless planning is behind
}

type act struct {
	name string
	do   func(*grown.Service, context.Context) error
}

// often are the frequent operations. Limits are counted outside of the database.
var often = []act{
	{"token verification", (*grown.Service).Verify},
	{"refresh", (*grown.Service).Refresh},
	{"replay", (*grown.Service).Replay},
	{"code exchange", (*grown.Service).Exchange},
	{"device", (*grown.Service).Device},
	{"introspection", (*grown.Service).Introspect},
	{"revocation", (*grown.Service).Revoke},
	{"revocation of tokens that carry no id", (*grown.Service).RevokeUnlocated},
	{"recording", (*grown.Service).Record},
	{"numbering", (*grown.Service).Number},
	{"planning", (*grown.Service).Plan},
	{"probe", (*grown.Service).Probe},
	{"claiming", (*grown.Service).Claim}, // DLV-10; the benchmarks of growth measure it
	{"finishing", (*grown.Service).Finish},
	{"first page of events", (*grown.Service).FirstPage},
	{"deep page of events", (*grown.Service).DeepPage},
	{"event", (*grown.Service).Event},
	{"health of webhooks", (*grown.Service).Health},
	{"delivery list", (*grown.Service).DeliveryList},
	{"filtered deliveries", (*grown.Service).FilteredDeliveries},
	{"delivery", (*grown.Service).Delivery},
	{"app data read", (*grown.Service).AppData},
	{"app data written", (*grown.Service).WriteAppData},
	{"idempotency", (*grown.Service).Repeatable},
	{"audit", (*grown.Service).Audit},
	{"console tokens", (*grown.Service).ConsoleTokens},
	{"retention, nothing to purge", (*grown.Service).PurgeNothing},
	{"retention", func(s *grown.Service, ctx context.Context) error { return s.Purge(ctx, 5) }}, // few, as they are of a large table
	{"analytics", (*grown.Service).Count},
	{"app data ended", (*grown.Service).EndAppData},
	{"installations", (*grown.Service).Installations},
	{"uninstalling", (*grown.Service).Uninstall},
}

// planner returns the faults of the plan of a statement.
type planner func(t *testing.T, s grown.Statement) (faults []string)

// check runs each operation, checks the plans of its statements and returns the statements.
func check(t *testing.T, s *grown.Service, r *grown.Recorder, acts []act, plan planner) (all []grown.Statement) {
	r.Take()
	for _, act := range acts {
		t.Run(act.name, func(t *testing.T) {
			if err := act.do(s, t.Context()); err != nil {
				t.Fatal(err)
			}
			sent := r.Take()
			all = append(all, sent...)
			checkPlans(t, sent, plan)
		})
	}
	return all
}

func checkPlans(t *testing.T, sent []grown.Statement, plan planner) {
	for _, one := range sent {
		for _, fault := range plan(t, one) {
			t.Errorf("%s in\n%s", fault, one.Text)
		}
	}
}

func TestSQLite(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	withoutRaceDetector(t)
	var r *grown.Recorder
	s, err := grown.OnSQLite(t.Context(), t.TempDir(), rows, grown.Recording(&r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, "sqlite", "file:"+filepath.ToSlash(s.File)+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	plan := sqlitePlan(conn)
	all := check(t, s, r, often, plan)
	t.Run("without an index", func(t *testing.T) {
		dropEach(t, conn, `SELECT name, substr(tbl_name, 12) FROM sqlite_master WHERE type = 'index' AND name LIKE 'pk\_%' ESCAPE '\'`, walkedSQLite, anyFault(all, plan))
	})
	t.Run("with statistics", func(t *testing.T) {
		exec(t, conn, "ANALYZE")
		checkPlans(t, all, plan)
	})
}

// connect opens a connection of the test's own.
func connect(t *testing.T, driver, name string) *sql.Conn {
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func TestPostgres(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	withoutRaceDetector(t)
	url, schema := testenv.Postgres(t)
	var r *grown.Recorder
	s, err := grown.OnPostgres(t.Context(), url, schema, rows, grown.Recording(&r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, "pgx", url+"&search_path="+schema)
	all := check(t, s, r, often, postgresPlan(conn, 7)) // five plans for the arguments, then perhaps one for any
	t.Run("without an index", func(t *testing.T) {
		dropEach(t, conn, `SELECT indexname, substr(tablename, 12) FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'pk\_%'`, walkedPostgres, anyFault(all, postgresPlan(conn, 1)))
	})
}

func withoutRaceDetector(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one statement after the other: the race detector would only take minutes")
	}
}
