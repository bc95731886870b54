package testdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// auditTable is the table of the audit log.
const auditTable = "partnerkit_audit"

// maxFaults ends the search for the last statement of a write.
const maxFaults = 200

// EveryFaultAudited tries a write with a fault at each of its statements and commits, and checks that the write and its audit entry happen together: after
// each trial the audit log has one more entry and another table has changed, or neither.
//
// The function prepare makes what the write needs and returns the write, which reports
// whether it succeeded. It is called again after a write has happened.
func (e *Env) EveryFaultAudited(t *testing.T, prepare func() (write func(ctx context.Context) bool)) {
	t.Helper()
	query := e.stateQuery(t)
	for _, fault := range []Fault{FaultError, FaultCancel, FaultLostCommit} {
		var write func(ctx context.Context) bool
		var before map[string]table
		for n, struck := 1, true; struck; n++ {
			if n == maxFaults {
				t.Fatalf("%s: still struck at place %d", fault, n)
			}
			if write == nil {
				write = prepare()
				before = e.state(t, query)
			}
			var succeeded bool
			succeeded, struck = e.struck(t, fault, n, write)
			happened := together(t, fmt.Sprintf("%s at %d", fault, n), before, e.state(t, query))
			switch {
			case succeeded && !happened, !struck && !succeeded:
				t.Fatalf("%s at %d, which struck: %v: succeeded %v, happened %v", fault, n, struck, succeeded, happened)
			case struck && fault == FaultError && happened && !succeeded:
				t.Errorf("%s at %d: it failed, and happened", fault, n)
			case struck && fault == FaultLostCommit && (succeeded || !happened):
				t.Errorf("%s at %d: succeeded %v, happened %v", fault, n, succeeded, happened)
			}
			if !happened {
				continue
			}
			write = nil
			if fault == FaultCancel && e.Tap.Dialect().IsOneProcess {
				break // there a write that has begun is not cancelled
			}
		}
	}
}

// struck runs the write with a fault, and reports whether that struck.
func (e *Env) struck(t *testing.T, fault Fault, n int, write func(ctx context.Context) bool) (succeeded, struck bool) {
	t.Helper()
	ctx, cancel := e.Tap.Cancellable(t.Context())
	defer cancel()
	e.Tap.Arm(fault, n)
	defer e.Tap.Reset()
	return write(ctx), e.Tap.Struck()
}

// together reports whether anything has changed, and checks that the audit log has with it.
func together(t *testing.T, when string, before, after map[string]table) (happened bool) {
	t.Helper()
	for name := range before {
		happened = happened || name != auditTable && before[name] != after[name]
	}
	entries := after[auditTable].rows - before[auditTable].rows
	if happened && entries != 1 || !happened && entries != 0 {
		t.Errorf("%s: changed: %v, entries in the audit log: %d", when, happened, entries)
	}
	return happened
}

// table is the content of a table: how many rows, and which.
type table struct {
	rows int
	text string
}

// state returns the content of all tables of the store, read with the query of stateQuery.
func (e *Env) state(t *testing.T, query string) map[string]table {
	t.Helper()
	found := make(map[string]table)
	err := storage.Each(t.Context(), e.Tap.DB, query, nil, func(scan func(dest ...any) error) error {
		var name string
		var in table
		err := scan(&name, &in.rows, &in.text)
		found[name] = in
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TablesWith returns the names of the tables that contain a text.
func (e *Env) TablesWith(t *testing.T, text string) []string {
	t.Helper()
	var names []string
	for name, in := range e.state(t, e.stateQuery(t)) {
		if strings.Contains(in.text, text) {
			names = append(names, name)
		}
	}
	return names
}

func (e *Env) stateQuery(t *testing.T) string {
	t.Helper()
	names := e.texts(t, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'partnerkit%'",
		"SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'partnerkit%'", e.Tap.Dialect().Schema)
	selects := make([]string, len(names))
	for i, name := range names {
		row := "x::text"
		if e.Tap.Dialect().Name == "sqlite" {
			row = "quote(" + strings.Join(e.texts(t, "SELECT name FROM pragma_table_info('"+name+"')", ""), ") || ',' || quote(") + ")"
		}
		selects[i] = fmt.Sprintf("SELECT '%s', COUNT(*), COALESCE(string_agg(line, ';'), '') FROM (SELECT %s AS line FROM %s x ORDER BY 1) AS lines", name, row, e.Qualified(name))
	}
	return strings.Join(selects, " UNION ALL ")
}

// texts reads a list with the statement for the database that this is.
func (e *Env) texts(t *testing.T, sqlite, postgres string, args ...any) []string {
	t.Helper()
	query := postgres
	if e.Tap.Dialect().Name == "sqlite" {
		query, args = sqlite, nil
	}
	var all []string
	err := storage.Each(t.Context(), e.Tap.DB, query, args, func(scan func(dest ...any) error) error {
		var one string
		err := scan(&one)
		all = append(all, one)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
