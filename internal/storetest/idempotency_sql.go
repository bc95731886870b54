package storetest

import (
	"testing"
)

// sqlKeyCases need what only sqlstore has.
var sqlKeyCases = []testCase[*Env]{
	{"An answer commits with its host", func(t *testing.T, e *Env) {
		for _, commits := range []bool{false, true} {
			c := claim(newKey(), "work", start)
			wantKey(t, e, c, owned)
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			must(t, e.FinishKey(t.Context(), tx, c.Hold, created))
			want := running
			if commits {
				want = responded
				must(t, tx.Commit(t.Context()))
			}
			must(t, tx.Rollback())
			c.Owner = "another"
			wantKey(t, e, c, want)
		}
	}},
	{"A joined store finishes a key", func(t *testing.T, e *Env) {
		c := claim("k", "work", start)
		wantKey(t, e, c, owned)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		defer tx.Rollback()
		must(t, e.WithTx(tx).FinishKey(t.Context(), nil, c.Hold, created))
		must(t, tx.Commit(t.Context()))
		wantKey(t, e, claim("k", "work", start), responded)
	}},
}
