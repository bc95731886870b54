package nodes_test

import (
	"io/fs"
	"testing"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Three nodes are one service. The parts that move the clock or restart nodes run last,
// one at a time. The numbers are the apps that only this part uses. The tests in this
// package do not run in parallel: six nodes may need more connections than a database
// allows.
func TestNodes(t *testing.T) {
	testenv.Long(t)
	c := newCluster(t, nil)
	t.Run("start", func(t *testing.T) { c.on(t).startsTogether() })
	t.Run("together", func(t *testing.T) {
		for name, part := range map[string]func(*cluster){
			"limits":      (*cluster).sharesLimits,      // 0
			"lockouts":    (*cluster).sharesLockouts,    // 1
			"races":       (*cluster).hasOneWinner,      // 24 to 39
			"idempotency": (*cluster).doesItOnce,        // 4
			"listings":    (*cluster).listsOnce,         // 5 to 7
			"analytics":   (*cluster).makesCalls,        // 8
			"revocation":  (*cluster).revokesEverywhere, // 10 to 23
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				part(c.on(t))
			})
		}
	})
	t.Run("rolling restart", func(t *testing.T) { c.on(t).restartsOneByOne() }) // 9
	t.Run("counted calls", func(t *testing.T) { c.on(t).countsCalls() })        // 8
	t.Run("clock", func(t *testing.T) { c.on(t).movesTogether() })
	t.Run("keys", func(t *testing.T) { c.on(t).rotatesKeys() })
}

// startsTogether checks the start of the nodes. In the long form it checks more clusters.
func (c *cluster) startsTogether() {
	p := proof.Begin(c, "Three nodes start together on an empty database", "starts")
	c.migratedOnce(p)
	for range testenv.Rounds(0, 9) {
		c.Run("again", func(t *testing.T) { newCluster(t, nil).migratedOnce(p) })
	}
}

// migratedOnce checks that each migration ran once, and the fixtures were loaded once.
func (c *cluster) migratedOnce(p *proof.Proof) {
	c.Helper()
	p.Tried(size)
	files, err := fs.Glob(sqlstore.Migrations(), "*.sql")
	if err != nil {
		c.Fatal(err)
	}
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM partnerkit_migration":               len(files),
		"SELECT COUNT(DISTINCT number) FROM partnerkit_migration": len(files),
		"SELECT COUNT(*) FROM partnerkit_app":                     apps,
		"SELECT COUNT(*) FROM partnerkit_signing_key":             1,
	} {
		var n int
		if err := c.db.QueryRowContext(c.Context(), query).Scan(&n); err != nil || n != want {
			p.Violation("%s: %d, %v; want %d", query, n, err, want)
		}
	}
}
