package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Operation is an entry of the table of operations. Three kinds of tests perform the same
// table: faults at each statement ([RunSQL]), contexts that end ([Run]), and package
// racetest, which races operations of one scene against each other.
type Operation struct {
	Name string
	// Of is the consumer of the store. Operations of one consumer race with each other.
	Of string
	// IsAlone keeps the operation out of races: it changes more than its scene, or belongs to
	// none.
	IsAlone bool
	// Needs are what the scene needs, for operations on the tokens of a connection.
	Needs []Need
	// Answers are the valid answers; the first is that of an operation in whose way nothing
	// stands. Without them that answer is Done, and Do itself returns errors for invalid ones.
	Answers []Answer
	// Skips is the answer of an operation that does not wait for another one: while that is
	// under way nothing happens, even if it would before and afterwards. Empty: it waits.
	Skips Answer
	// Prepare creates what the operation needs in a scene, which it may share with others.
	Prepare func(t testing.TB, s *Scene) Act
}

// Act is an operation that has been prepared in a scene.
type Act struct {
	// Do performs the operation on a store, which may be another connection to the database
	// of the scene. It returns one of the answers of the operation, or an error.
	Do func(ctx context.Context, on partnerkit.Store) (Answer, error)
	// Check fails t unless the operation has happened completely, or not at all.
	Check func(t testing.TB, happened bool)

	want Answer
}

// Answer is what an operation returned to its caller.
type Answer string

// Done is the answer of an operation that succeeded.
const Done Answer = "done"

// answered returns Done, the message of a refusal, or an error that is no refusal.
func answered(err error, refusals ...error) (Answer, error) {
	if err == nil {
		return Done, nil
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return Answer(refusal.Error()), nil
		}
	}
	return "", err
}

// alone performs the operation where nothing stands in its way.
func (a Act) alone(ctx context.Context, on partnerkit.Store) error {
	got, err := a.Do(ctx, on)
	return outcome(err, got == a.want)
}

// Operations is the table of operations.
func Operations() []Operation {
	return slices.Concat(dataOperations, oauthOperations, limitOperations, tokenOperations, customOperations, keyOperations, consoleOperations, webhookOperations)
}

// tableFaultCases are the operations of the table under a fault at each of their statements
// and with a lost response to each commit.
func tableFaultCases() (cases []testCase[*Env]) {
	for _, o := range Operations() {
		cases = append(cases, testCase[*Env]{o.Name + " under faults", func(t *testing.T, e *Env) {
			var act Act
			EveryFault(t, e.Tap, Faulty{
				Prepare: func(t *testing.T) { act = NewScene(t, e).Prepare(t, o)[0] },
				Act:     func(ctx context.Context) error { return act.alone(ctx, e) },
				Check:   func(t *testing.T, happened bool) { act.Check(t, happened) },
			})
		}})
	}
	return cases
}

// Scene is one app in one business, in which operations are prepared. What several
// operations use is created by the first.
type Scene struct {
	*oauthFixture
	// Connection is set if operations on tokens have been prepared.
	Connection *Connection

	name     string // part of every id that Digest shows
	prepared int
	listed   *listingFixture
	declared *dataFixture
	sender   *senderFixture
	happened []partner.Event
	planned  bool
	made     map[string]bool
}

// NewScene creates an app.
func NewScene(t testing.TB, e partnerkit.Store) *Scene {
	t.Helper()
	name := fmt.Sprintf("@%d@", serial.Add(1))
	return &Scene{oauthFixture: newOAuthNamed(t, e, "app_"+name, name), name: name, made: map[string]bool{}}
}

// Prepare prepares operations, each of which has ids of its own.
func (s *Scene) Prepare(t testing.TB, operations ...Operation) (acts []Act) {
	t.Helper()
	needs, onTokens := map[Need]bool{}, false
	for _, o := range operations {
		onTokens = onTokens || o.Of == ofOAuth && !o.IsAlone
		for _, need := range o.Needs {
			needs[need] = true
		}
	}
	if onTokens {
		s.connect(t, len(operations), needs)
	}
	for i, o := range operations {
		s.prepared = i
		act := o.Prepare(t, s)
		act.want = Done
		if len(o.Answers) > 0 {
			act.want = o.Answers[0]
		}
		acts = append(acts, act)
	}
	return acts
}

// id returns an id for something that the operation being prepared creates.
func (s *Scene) id(kind string) string { return fmt.Sprintf("%s_%s_%d", kind, s.name, s.prepared) }

// shared returns an id for something that all operations of the scene use.
func (s *Scene) shared(kind string) string { return kind + "_" + s.name }

// once calls create if it is the first call with that id.
func (s *Scene) once(id string, create func()) {
	if !s.made[id] {
		s.made[id] = true
		create()
	}
}

// ofBusiness limits rows to those of the businesses of an app.
const ofBusiness = "business_id IN (SELECT business_id FROM partnerkit_installation WHERE app_id = $1)"

// digested are the rows of an app that operations change, and the columns that are the same
// in every scene but for the name of the scene.
var digested = []struct {
	table   string
	columns []string
	where   string
}{
	{"app", []string{"status", "name", "reviewed", "scopes", "pinned_version", "version", "reviewed_name", "reviewed_scopes", "first_secret IS NULL", "second_secret IS NULL"}, "id = $1"},
	{"client_secret", []string{"id", "revoked_at"}, "app_id = $1"},
	{"listing_revision", []string{"id", "is_live", "is_latest", "version", "state", "slug", "name", "icon_asset_id", "screenshot_asset_ids", "updated_at", "app_name", "app_scopes"}, "app_id = $1"},
	{"listing_slug", []string{"slug"}, "app_id = $1"},
	{"asset", []string{"id", "kind", "data IS NULL"}, "app_id = $1"},
	{"extension", []string{"id", "resource_type", "path", "label", "updated_at"}, "app_id = $1"},
	{"function", []string{"id", "name", "source"}, "app_id = $1"},
	{"submission", []string{"id", "state", "note", "app_name", "updated_at"}, "app_id = $1"},
	{"app_data_field", []string{"id", "field_key", "label", "rules", "version", "deleted_at"}, "app_id = $1"},
	{"app_data_space", []string{"business_id", "ended_at"}, "app_id = $1"},
	{"app_data_value", []string{"id", "resource_id", "field_id", "value", "updated_at"}, "space_id IN (SELECT id FROM partnerkit_app_data_space WHERE app_id = $1)"},
	// On a database of one process the owner begins with a name of the process.
	{"idempotency_key", []string{"name", "SUBSTR(owner, LENGTH(owner), 1)", "lease_ends", "expires_at", "status"}, "app_id = $1"},
	{"event", []string{"type", "data"}, "app_id = $1"},
	{"outbox", []string{"number", "webhook_id"}, ofBusiness},
	{"event_number", []string{"type", "number", "(SELECT created_at FROM partnerkit_event e WHERE e.id = event_id)"}, ofBusiness + " AND type = '" + subscribed + "'"},
	{"webhook", []string{"failing_since", "failed_count", "disabled_at"}, "app_id = $1"},
	{"delivery", []string{"status", "sequence", "attempts", "response_code", "next_attempt_at", "round"}, "app_id = $1"},
	{"delivery_queue", []string{"due_at"}, "webhook_id IN (SELECT id FROM partnerkit_webhook WHERE app_id = $1)"},
	{"attempt", []string{"round", "number", "response_code"}, "delivery_id IN (SELECT id FROM partnerkit_delivery WHERE app_id = $1)"},
	{"audit", []string{"action", "target"}, "app_id = $1"},
}

// Digest returns the rows of the scene as text, without the name of the scene: scenes in
// which the same has happened have the same digest.
func (s *Scene) Digest(ctx context.Context, from storage.Querier, schema string) (string, error) {
	var selects []string
	for _, d := range digested {
		line := "'" + d.table + ":'"
		for _, column := range d.columns {
			line += " || ' ' || COALESCE(CAST(" + column + " AS TEXT), '-')"
		}
		selects = append(selects, "SELECT "+line+" FROM partnerkit_"+d.table+" WHERE "+d.where)
	}
	query := strings.Join(selects, " UNION ALL ")
	if schema != "" {
		query = strings.ReplaceAll(query, "partnerkit_", `"`+schema+`".partnerkit_`)
	}
	var lines []string
	err := storage.Each(ctx, from, query, []any{s.app.ID}, func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		lines = append(lines, strings.ReplaceAll(line, s.name, ""))
		return err
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

// Attempt calls f with a testing.TB whose failures do not fail t, in a goroutine of its own,
// and returns the failures.
func Attempt(t testing.TB, f func(t testing.TB)) error {
	r := &recorder{TB: t}
	var done sync.WaitGroup
	done.Go(func() { f(r) })
	done.Wait()
	return errors.Join(r.failures...)
}

// recorder is a testing.TB that keeps failures for itself.
type recorder struct {
	testing.TB
	failures []error
}

func (r *recorder) Helper() {}
func (r *recorder) Error(args ...any) {
	r.failures = append(r.failures, errors.New(fmt.Sprint(args...)))
}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Errorf(format, args...))
}
func (r *recorder) Failed() bool { return len(r.failures) > 0 }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
