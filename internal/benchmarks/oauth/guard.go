package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"

	_ "modernc.org/sqlite" // the driver of the floor
)

// Guard compares the way from a request to its handler, through all gates, with the one
// statement of it run bare.
func Guard(p bench.Plan, r *report.Report) error {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ours.db")
	asked, token, err := verification(file)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: file})
	if err != nil {
		return err
	}
	defer store.Close()
	gate, err := gated(store, token)
	if err != nil {
		return err
	}
	name := "file:" + file + "?_pragma=query_only(1)"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	dest, err := asked.columns(db)
	if err != nil {
		return err
	}
	bare, err := asked.bare(db, dest)
	if err != nil {
		return err
	}
	point, err := pointSelect(db)
	if err != nil {
		return err
	}
	const each, most, mostAllocs = 500, 1.4, 25
	measured, err := p.Compare(15,
		bench.Side{Name: "point", Each: each, Do: point}, bench.Side{Name: "bare", Each: each, Do: bare},
		bench.Side{Name: "gate", Each: each, Do: gate})
	if err != nil {
		return err
	}
	floor, statement, our := measured[0], measured[1], measured[2]
	ratio, allocs := our.ThreadRatio(statement), our.Allocs-statement.Allocs
	r.Add(report.Row{
		Group: group, Operation: "token verification through the guard, SQLite", Ours: our.Thread.String(),
		Floor:  fmt.Sprintf("its statement run bare %v, a point select %v", statement.Thread, floor.Thread),
		Ratios: fmt.Sprintf("%.2f of its statement", ratio), Spread: our.ThreadSpread(statement), Allocs: fmt.Sprintf("%.0f more than the statement", allocs),
		Bar: fmt.Sprintf("at most %.1f and %d allocations more", most, mostAllocs), Missed: ratio > most || allocs > mostAllocs,
	})
	return nil
}

// question is a statement that was run, with its values.
type question struct {
	query string
	args  []any
}

// listening is a database that remembers what it was asked last.
type listening struct {
	storage.DB
	last question
}

func (l *listening) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	l.last = question{query, args}
	return l.DB.Query(ctx, query, args...)
}

// verification makes a file with a token in it, and finds out what verifying it asks.
func verification(file string) (asked question, token string, err error) {
	db, err := sqlite.OpenDB(context.Background(), sqlite.Config{Path: file})
	if err != nil {
		return question{}, "", err
	}
	heard := &listening{DB: db}
	store, err := sqlstore.New(context.Background(), heard, sqlstore.Config{})
	if err != nil {
		return question{}, "", err
	}
	defer store.Close()
	our, err := newOurs(store)
	if err != nil {
		return question{}, "", err
	}
	family, err := our.family()
	if err != nil {
		return question{}, "", err
	}
	gate, err := gated(store, family.Access)
	if err != nil {
		return question{}, "", err
	}
	return heard.last, family.Access, gate(1)
}

// gated makes calls with a token to a route that asks for a scope.
func gated(store *sqlstore.Store, token string) (func(n int) error, error) {
	srv, err := newServer(store)
	if err != nil {
		return nil, err
	}
	limiter, err := fixture.NewUnreached()
	if err != nil {
		return nil, err
	}
	surface, err := guard.New(guard.Config{Tokens: srv, Limiter: limiter})
	if err != nil {
		return nil, err
	}
	reached := 0
	err = surface.Handle(guard.Route{Pattern: "GET /bench", Scope: "invoices:read", Handler: func(http.ResponseWriter, *http.Request) error {
		reached++
		return nil
	}})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodGet, "/bench", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = "192.0.2.1:1234"
	r.Header.Set("Authorization", "Bearer "+token)
	w := &response{header: http.Header{}, status: http.StatusOK}
	return func(n int) error {
		before := reached
		for range n {
			clear(w.header)
			surface.ServeHTTP(w, r)
		}
		if reached != before+n {
			return fmt.Errorf("%d of %d calls came through: %d %s", reached-before, n, w.status, w.body)
		}
		return nil
	}, nil
}

// columns returns where a row of the response can be scanned to.
func (q question) columns(db *sql.DB) (dest []any, err error) {
	rows, err := db.Query(q.query, q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	dest = make([]any, len(columns))
	for i, column := range columns {
		if dest[i] = any(new(sql.NullString)); column.DatabaseTypeName() == "BIGINT" {
			dest[i] = new(sql.NullInt64)
		}
	}
	return dest, nil
}

// bare runs the statement as database/sql does, prepared once.
func (q question) bare(db *sql.DB, dest []any) (func(n int) error, error) {
	stmt, err := db.Prepare(q.query)
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		for range n {
			if err := stmt.QueryRow(q.args...).Scan(dest...); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// pointSelect reads one column of one row by its key.
func pointSelect(db *sql.DB) (func(n int) error, error) {
	var key, found string
	if err := db.QueryRow("SELECT id FROM partnerkit_app").Scan(&key); err != nil {
		return nil, err
	}
	stmt, err := db.Prepare("SELECT status FROM partnerkit_app WHERE id = ?")
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		for range n {
			if err := stmt.QueryRow(key).Scan(&found); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
