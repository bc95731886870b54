package main

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// Two nodes on one PostgreSQL and one Redis are one service.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	db, schema := testenv.Postgres(t)
	limits := testenv.Redis(t)
	setup, err := sql.Open("pgx", db)
	if err != nil {
		t.Fatal(err)
	}
	defer setup.Close()
	if _, err := setup.ExecContext(t.Context(), `CREATE SCHEMA "`+schema+`"`); err != nil {
		t.Fatal(err)
	}
	separator := "?"
	if strings.Contains(db, "?") {
		separator = "&"
	}
	args := []string{"-db", db + separator + "search_path=" + schema, "-redis", limits}
	var nodes []*rig
	for range 2 {
		nodes = append(nodes, start(t, args...))
	}
	a, b := nodes[0], nodes[1]

	person := a.signIn("ada@example.com", "demo-ada")
	get(t, person, b.app+"/settings/apps").want(t, http.StatusOK) // cookies know no ports

	// SBX-01: a moved clock is everybody's.
	want := a.dev("clock", `{"advanceSeconds": 5000}`).want(t, http.StatusOK).json(t)["now"].(float64)
	for {
		if got := get(t, http.DefaultClient, b.api+"/dev/clock").json(t)["now"].(float64); got >= want {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(context.Cause(t.Context()))
		}
	}
}
