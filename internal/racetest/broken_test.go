package racetest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/racetest"
	"github.com/partnerkit/partnerkit/storage"
)

// rewriter is a database that simulates a bug in the store: it replaces some statements by
// others, with the same arguments and in one transaction.
type rewriter struct {
	storage.DB
	bug *bug
}

type bug struct {
	rewrite   func(query string) []string // nil: unchanged
	rewritten atomic.Int64
}

func (b *bug) of(query string) []string {
	if instead := b.rewrite(query); instead != nil {
		b.rewritten.Add(1)
		return instead
	}
	return []string{query}
}

func (r rewriter) Write(ctx context.Context, operation storage.Operation) error {
	return r.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
		return operation(ctx, rewriterTx{tx, r.bug})
	})
}

func (r rewriter) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = r.Write(ctx, func(ctx context.Context, tx storage.Tx) (err error) {
		n, err = tx.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

func (r rewriter) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	return r.DB.Query(ctx, r.bug.of(query)[0], args...)
}

type rewriterTx struct {
	storage.Tx
	bug *bug
}

func (x rewriterTx) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	for i, q := range x.bug.of(query) {
		changed, err := x.Tx.Exec(ctx, q, args...)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			n = changed
		}
	}
	return n, nil
}

func (x rewriterTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	return x.Tx.Query(ctx, x.bug.of(query)[0], args...)
}

// rule rewrites the statements that begin with a prefix; schema comes before the names of
// tables.
type rule struct {
	begin   string
	rewrite func(query, schema string) []string
}

func rewriting(rules ...rule) *bug {
	return &bug{rewrite: func(query string) []string {
		before, rest, _ := strings.Cut(query, `"`)
		name, _, isQualified := strings.Cut(rest, `".`)
		if !isQualified {
			return nil
		}
		schema := `"` + name + `".`
		for _, r := range rules {
			if strings.HasPrefix(strings.ReplaceAll(query, schema, ""), r.begin) && before != query {
				return r.rewrite(query, schema)
			}
		}
		return nil
	}}
}

// replaced changes a part of a statement.
func replaced(part, by string) func(string, string) []string {
	return func(query, _ string) []string {
		if !strings.Contains(query, part) {
			return nil
		}
		return []string{strings.Replace(query, part, by, 1)}
	}
}

var (
	lockless = rule{"SELECT a.status", replaced(" FOR SHARE OF a, i, g", "")}
	// Ending a consent updates its tokens, and tokens no longer check the consent.
	sweeping = []rule{
		{"SELECT a.id", replaced("g.ended_at", "CAST(NULL AS BIGINT)")},
		{"UPDATE partnerkit_grant SET ended_at", func(query, schema string) []string {
			of := " WHERE app_id = $1 AND user_id = $3 AND $2 <> ''"
			return []string{
				query, "UPDATE " + schema + "partnerkit_access_token SET revoked_at = $4" + of, "UPDATE " + schema + "partnerkit_family SET ended_at = $4" + of,
			}
		}},
	}
	// A change of an app, or of what belongs to it, reads the app without holding it.
	unheld = []rule{
		{"SELECT a.id, a.client_id", replaced(" FOR UPDATE", "")},
		{"SELECT 1 FROM partnerkit_app", replaced(" FOR UPDATE", "")},
	}
	endFamily = "UPDATE partnerkit_family SET ended_at = $2 WHERE id = $1 AND"
)

// Each planted bug is invisible while operations run one after the other, and is found in a
// race.
func TestFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bug        *bug
		operations []string
		finds      string // empty: no violation
	}{
		"a code is checked, then used": {
			rewriting(rule{"UPDATE partnerkit_code", replaced(" AND used_at IS NULL", "")}),
			[]string{"redeem code", "redeem code"}, "got outcome",
		},
		"tokens are issued without locking their parents": {
			rewriting(append(sweeping, lockless)...), []string{"redeem code", "revoke consent"}, "got outcome",
		},
		"updating tokens with the lock is correct": {
			rewriting(sweeping...), []string{"redeem code", "revoke consent"}, "",
		},
		"a burn misses the newest token": {
			rewriting(rule{endFamily, func(query, schema string) []string {
				return []string{query + " AND generation = (SELECT generation FROM " + schema + "partnerkit_family WHERE id = $1)"}
			}}), []string{"refresh", "revoke"}, "got outcome",
		},
		"a burn locks upwards": {
			rewriting(rule{endFamily, func(query, schema string) []string {
				return []string{query, "UPDATE " + schema + "partnerkit_installation SET scopes = scopes WHERE CAST($2 AS BIGINT) > 0 AND id = (SELECT installation_id FROM " + schema + "partnerkit_family WHERE id = $1)"}
			}}), []string{"refresh", "revoke"}, "deadlock",
		},
		"a key that is gone is taken for one of another request": {
			rewriting(rule{"SELECT fingerprint", func(query, schema string) []string {
				const where = "WHERE"
				return []string{strings.Replace(strings.Replace(query, "FROM", "FROM (SELECT 1) AS one LEFT JOIN", 1), where, "ON", 1)}
			}}), []string{"Claim", "Release"}, "got outcome",
		},
		"values are compared without holding their space": {
			rewriting(rule{"INSERT INTO partnerkit_app_data_space", func(query, schema string) []string {
				made, _, _ := strings.Cut(query, "DO UPDATE")
				return []string{"WITH made AS (" + made + "DO NOTHING RETURNING id) SELECT id FROM made UNION ALL SELECT id FROM " +
					schema + "partnerkit_app_data_space WHERE app_id = $2 AND business_id = $3 AND ended_at IS NULL"}
			}}), []string{"Write a value", "Delete a value"}, "got outcome",
		},
		"a field is changed as it was": {rewriting(unheld...), []string{"Change a field", "Change a field"}, "got outcome"},
		"an ended custom connection is approved": {
			rewriting(rule{"SELECT a.id, a.client_id", replaced(" FOR SHARE", "")}), []string{"approve custom connection", "unset custom business"}, "got outcome",
		},
		"an app is changed as it was":              {rewriting(unheld...), []string{"Change an app", "Lock and change an app"}, "got outcome"},
		"an app is submitted twice":                {rewriting(unheld...), []string{"Submit an app", "Submit an app"}, "got outcome"},
		"a listing takes two steps at once":        {rewriting(unheld...), []string{"First approval", "Rejection"}, "got outcome"},
		"a listing shows an asset that is deleted": {rewriting(unheld...), []string{"First save", "Delete an asset"}, "got outcome"},
		"an extension is changed as it was":        {rewriting(unheld...), []string{"Change an extension", "Change an extension"}, "got outcome"},
		"two delete a function":                    {rewriting(unheld...), []string{"Delete a function", "Delete a function"}, "got outcome"},
		"a deactivated app is changed":             {rewriting(unheld...), []string{"Deactivate an app", "Lock and change an app"}, "got outcome"},
		"two end a secret":                         {rewriting(unheld...), []string{"End a secret", "End a secret"}, "got outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := onPostgres(t, func(db storage.DB) storage.DB { return rewriter{db, test.bug} })
			report := racetest.Explore(t, db, test.operations...)
			found := strings.Join(report.Violations, "\n")
			t.Logf("%d rewritten, %d violations in %d schedules", test.bug.rewritten.Load(), len(report.Violations), report.Schedules)
			switch {
			case test.bug.rewritten.Load() == 0:
				t.Error("no statement was rewritten")
			case test.finds == "" && found != "":
				t.Error(found)
			case !strings.Contains(found, test.finds):
				t.Errorf("%q was not found, but this: %s", test.finds, found)
			}
		})
	}
}
