package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// dataCostCases are what the operations on app data cost.
var dataCostCases = []testCase[*Env]{
	{"What app data costs", func(t *testing.T, e *Env) {
		f := newData(t, e)
		values := map[string]string{}
		for _, resource := range numbered(appdata.MaxValues) {
			values[resource] = "1"
		}
		w := f.write(noon, drafts(f.field, noon, values))
		// Fields, space, what is there; 16 and 8 and 1 values; the event and its place in the outbox.
		wantCost(t, e.Tap, 8, 1, func() { get[[]valuestore.Value](t)(e.WriteValues(t.Context(), w)) })
		wantCost(t, e.Tap, 3, 1, func() { get[[]valuestore.Value](t)(e.WriteValues(t.Context(), w)) }) // the same again
		wantCost(t, e.Tap, 6, 1, func() { f.put(t, "inv_0", "2") })
		wantCost(t, e.Tap, 2, 0, func() { f.seen(t, numbered(appdata.MaxResources)...) })
		wantCost(t, e.Tap, 4, 1, func() { must(t, e.DeleteValue(t.Context(), f.removal(w.Drafts[0].ID))) })
		wantCost(t, e.Tap, 2, 0, func() { get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 10)) }) // writes nothing
	}},
	{"App data uses the indexes", func(t *testing.T, e *Env) {
		f := newData(t, e)
		busy := f.another("busy")
		must(t, createField(t.Context(), e, busy, 100))
		f.put(t, "inv_1", "1")
		for i := range 10 { // large enough that walking the table is not cheaper
			business := fmt.Sprintf("biz_other_%d", i)
			e.exec(t, "INSERT INTO partnerkit_app_data_space (id, app_id, business_id) VALUES ($1, $2, $3)", "ads_"+business, f.app.ID, business)
			e.exec(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
				INSERT INTO partnerkit_app_data_value (id, space_id, resource_id, field_id, value, created_at, updated_at)
				SELECT 'adv_' || $1 || '_' || CAST(i AS TEXT), $2, 'inv_' || CAST(i AS TEXT), $3, '1', 0, 0 FROM n`, business, "ads_"+business, busy.ID)
		}
		watched := &statementLog{DB: e.Tap.DB}
		e.Tap.DB = watched
		ends := newData(t, e)
		ends.put(t, "inv_1", "1")
		must(t, ends.end(t, partner.InstallationRemoved))
		watched.statements = nil

		values := map[string]string{}
		for _, resource := range numbered(appdata.MaxValues) {
			values[resource] = "1"
		}
		written := get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, values))))
		f.seen(t, numbered(appdata.MaxResources)...)
		must(t, e.DeleteValue(t.Context(), f.removal(written[0].ID)))
		must(t, ends.redact(t.Context()))
		must(t, deleteField(t.Context(), e, f.app.ID, f.field.ID, noon))
		get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 200))
		get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 200))
		const bySpace, byField = "pk_app_data_value_space", "pk_app_data_value_field"
		watched.wantIndexed(t, "partnerkit_app_data_value", "resource_id", "resource_id", "(id", "(id", bySpace, bySpace, byField, byField)
	}},
}

func (f *dataFixture) wantField(t testing.TB, fieldID string, want bool) {
	t.Helper()
	if _, err := oneField(f)(t.Context(), f.app.ID, fieldID); (err == nil) != want {
		t.Errorf("field: %v, want it there: %v", err, want)
	}
}

func (f *dataFixture) wantSeen(t testing.TB, resource string, want bool) {
	t.Helper()
	if seen := f.seen(t, resource); (len(seen) == 1) != want {
		t.Errorf("%v is there, want a value: %v", seen, want)
	}
}

// statementLog remembers what passes, in operations too.
type statementLog struct {
	storage.DB
	statements []statement
}

type statement struct {
	text string
	args []any
}

func (l *statementLog) add(text string, args []any) {
	l.statements = append(l.statements, statement{text, args})
}

func (l *statementLog) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	l.add(query, args)
	return l.DB.Query(ctx, query, args...)
}

func (l *statementLog) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	l.add(query, args)
	return l.DB.Exec(ctx, query, args...)
}

func (l *statementLog) Write(ctx context.Context, act storage.Operation) error {
	return l.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error { return act(ctx, loggedTx{tx, l}) })
}

type loggedTx struct {
	storage.Tx
	log *statementLog
}

func (x loggedTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	x.log.add(query, args)
	return x.Tx.Query(ctx, query, args...)
}

func (x loggedTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	x.log.add(query, args)
	return x.Tx.Exec(ctx, query, args...)
}

// wantIndexed asks the database how it would run each statement over a table, without
// those that add rows: by this index, or this column of one.
func (l *statementLog) wantIndexed(t *testing.T, table string, by ...string) {
	t.Helper()
	if l.Dialect().Name != "sqlite" {
		get[int64](t)(l.DB.Exec(t.Context(), `ANALYZE "`+l.Dialect().Schema+`".`+table))
	}
	var over []statement
	for _, s := range l.statements {
		if strings.Contains(s.text, table) && !strings.HasPrefix(s.text, "INSERT") {
			over = append(over, s)
		}
	}
	if len(over) != len(by) {
		t.Fatalf("%d statements over %s, want %d", len(over), table, len(by))
	}
	for i, s := range over {
		x := explainer{DB: l.DB, query: s.text, args: s.args}
		plan, isIndexed := x.plan(t), false
		for line := range strings.Lines(plan) {
			isIndexed = isIndexed || strings.Contains(line, by[i]) && (strings.Contains(line, "Index") || strings.Contains(line, "SEARCH"))
		}
		if !isIndexed || strings.Contains(plan, "Seq Scan on "+table) || strings.Contains(plan, "SCAN "+table) || strings.Contains(plan, "SCAN v") {
			t.Errorf("%s\nis not looked up by %s:\n%s", s.text, by[i], plan)
		}
	}
}
