package oauthserver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// rotation is how often keys rotate by themselves.
const rotation = 90 * 24 * time.Hour

func (r *documentHarness) signingKeys(t testing.TB) []oauthstore.SigningKey {
	t.Helper()
	keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// META-04: a key of 90 days gets one successor, even if many nodes check it at once.
func TestRotationByAge_META04(t *testing.T) {
	t.Parallel()
	const n = 8
	for range testenv.Rounds(5, 200) {
		r := newDocumentHarness(t, nil)
		keySet(t, r.Server)
		nodes := make([]*oauthserver.Server, n)
		for i := range nodes {
			nodes[i] = r.node(t, nil)
		}
		tidy := func(want int) {
			t.Helper()
			testdb.Race(n, func(i int) { nodes[i].Tidy(t.Context()) })
			if keys := r.signingKeys(t); len(keys) != want {
				t.Fatalf("%d keys after %v, want %d", len(keys), r.clock.Now().Sub(harness.Start), want)
			}
		}
		tidy(1)
		r.clock.Advance(rotation - time.Millisecond)
		tidy(1)
		r.clock.Advance(time.Millisecond)
		tidy(2)
		tidy(2)
		r.clock.Advance(rotation) // the first has retired
		tidy(2)
	}
}

// META-04: through years of rotations every node publishes what any of them signs
// with, an hour before it does.
func TestRotationForYears_META04(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	other := r.node(t, nil)
	signers := map[string]bool{}
	var published []string // an hour ago, by the other node
	for range 10 * rotation / (3 * 24 * time.Hour) {
		for range 3 { // across the hour in which a new key waits
			r.Tidy(t.Context())
			published = kids(keySet(t, other))
			r.clock.Advance(leadTime)
			kid := r.signedBy(t, r.Server, m)
			signers[kid] = true
			if !slices.Contains(published, kid) {
				t.Fatalf("%s signs and was not published an hour before: %v", kid, published)
			}
			token := r.issue(t, r.Server, m)
			if _, err := other.VerifySessionToken(t.Context(), app, token, r.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		r.clock.Advance(3*24*time.Hour - 3*leadTime)
	}
	if len(signers) < 9 {
		t.Errorf("%d keys signed in 900 days", len(signers))
	}
}

// Run rotates, as the host said: at its own period, or never.
func TestRunRotates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		period time.Duration
		want   int
	}{"every day": {24 * time.Hour, 2}, "never": {-1, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newDocumentHarness(t, func(c *oauthserver.Config) { c.KeyRotation = test.period })
			keySet(t, r.Server)
			r.clock.Advance(24 * time.Hour)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			for len(r.signingKeys(t)) != test.want && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
			r.Tidy(t.Context())
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if n := len(r.signingKeys(t)); n != test.want {
				t.Errorf("%d keys, want %d", n, test.want)
			}
		})
	}
	cfg := newDocumentHarness(t, nil).cfg
	cfg.KeyRotation = time.Hour - 1
	if _, err := oauthserver.New(cfg); err == nil {
		t.Error("took a period in which no key would ever sign")
	}
}

// With a new key first in the keyring, any node seals the private keys again with it. The
// old key can then be removed, and session tokens remain valid.
func TestResealKeys(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	token := r.issue(t, r.Server, m) // by the ring of the harness, whose key is zeroes
	if err := r.RotateSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	with := func(fills ...byte) *oauthserver.Server {
		return r.node(t, func(c *oauthserver.Config) { c.Keyring = fixture.Keyring(fills...) })
	}
	nodes := []*oauthserver.Server{with(1, 0), with(1, 0), with(1, 0)}
	testdb.Race(len(nodes), func(i int) { nodes[i].Tidy(t.Context()) })
	after := with(1)
	if err := after.CheckKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := after.VerifySessionToken(t.Context(), app, token, r.clock.Now()); err != nil {
		t.Error(err)
	}
	if len(kids(keySet(t, after))) != 2 {
		t.Error("a key was lost")
	}
}
