package main

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// Nodes that start together on one empty PostgreSQL and one Redis are one service.
func TestSeveralNodes(t *testing.T) {
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
	nodes := make([]*rig, 3)
	storetest.Race(len(nodes), func(i int) { nodes[i] = start(t, args...) }) // one of them loads the demo
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
