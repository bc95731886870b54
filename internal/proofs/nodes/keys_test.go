package nodes_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// now returns the time on the clock of a node.
func (c *cluster) now(n *node) float64 {
	var clock struct{ Now float64 }
	a := c.send(http.DefaultClient, c.request(http.MethodGet, n.api+"/dev/clock", ""))
	if err := a.Decode(&clock); err != nil {
		c.Errorf("%v: %v", a, err)
	}
	return clock.Now
}

// advance moves the clock at one node, and waits until all have it.
func (c *cluster) advance(n *node, by time.Duration) {
	c.Helper()
	before := c.now(n)
	c.dev(n, "clock", fmt.Sprintf(`{"advanceSeconds": %d}`, int(by.Seconds())))
	for _, other := range c.nodes {
		c.until("a moved clock is everybody's", func() bool { return c.now(other) >= before+by.Seconds() })
	}
}

// SBX-01: all nodes have the same clock. A token that expires at one node has expired at
// the others, and a user who is signed in at one node is signed in at all nodes.
func (c *cluster) movesTogether() {
	p := proof.Begin(c, "The clock moved at one node, seen by the others", "moves")
	for i := range testenv.Rounds(1, 20) {
		at := c.place(8, 1)
		access := c.connect(c.nodes[i%size], at).access
		c.advance(c.nodes[i%size], time.Hour)
		for _, n := range c.nodes {
			if a := c.profile(n, access); a.Status != http.StatusUnauthorized {
				p.Violation("a token of an hour, an hour later: %v", a)
			}
		}
		p.Tried(1)
	}
	person := c.at(c.nodes[0], c.place(8, 1)).SignIn()
	for _, n := range c.nodes {
		if a := c.send(person, c.request(http.MethodGet, n.app+"/settings/apps", "")); a.Status != http.StatusOK {
			p.Violation("a user signed in at another node: %d", a.Status)
		}
	}
}

// kids returns the ids of the keys that a node publishes.
func (c *cluster) kids(n *node) (kids []string) {
	c.Helper()
	var set jose.JSONWebKeySet
	a := c.send(http.DefaultClient, c.request(http.MethodGet, n.api+"/.well-known/jwks.json", ""))
	if err := a.Decode(&set); err != nil {
		c.Errorf("%v: %v", a, err)
	}
	for _, key := range set.Keys {
		kids = append(kids, key.KeyID)
	}
	return kids
}

// publish waits until every node publishes n keys.
func (c *cluster) publish(n int) (youngest string) {
	c.Helper()
	for _, other := range c.nodes {
		c.until(fmt.Sprintf("a node publishes %d keys", n), func() bool { return len(c.kids(other)) == n })
	}
	kids := c.kids(c.nodes[0])
	return kids[len(kids)-1]
}

// crossed issues tokens at every node, and checks that every node publishes the key and
// accepts a token. It returns the id of the signing key.
func (c *cluster) crossed(p *proof.Proof, at place) (signer string) {
	for _, maker := range c.nodes {
		for _, taker := range c.nodes {
			token := c.sessionToken(maker, at)
			signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
			if err != nil {
				c.Fatal(err)
			}
			signer = signed.Signatures[0].Header.KeyID
			if kids := c.kids(taker); !slices.Contains(kids, signer) {
				p.Violation("%s signs, another node publishes %v", signer, kids)
			}
			if a := c.exchange(taker, at, token); a.Status != http.StatusOK {
				p.Violation("a session token of another node: %v", a)
			}
			p.Tried(1)
		}
	}
	return signer
}

// META-04: when any node rotates the key, manually or by age, every node publishes the new
// key before any node signs with it, and tokens of the old key are valid until they
// expire. When the key is due for rotation at three nodes, exactly one creates a new key.
func (c *cluster) rotatesKeys() {
	p := proof.Begin(c, "Signing keys rotated at one node, across nodes", "tokens")
	at := c.place(8, 2)
	c.connect(c.nodes[0], at)
	old := c.crossed(p, at)
	for round := range testenv.Rounds(1, 10) {
		n := c.nodes[round%size]
		c.dev(n, "keys/rotate", "{}")
		young := c.publish(2)
		if signer := c.crossed(p, at); signer != old {
			p.Violation("%s signs at once", signer)
		}
		c.advance(n, time.Hour-20*time.Second)
		var last []string // the old key's last tokens
		for _, n := range c.nodes {
			last = append(last, c.sessionToken(n, at))
		}
		c.advance(n, 25*time.Second)
		if signer := c.crossed(p, at); signer != young {
			p.Violation("%s signs after an hour, not %s", signer, young)
		}
		for i, token := range last {
			if a := c.exchange(c.nodes[(i+1)%size], at, token); a.Status != http.StatusOK {
				p.Violation("a live token of the key before: %v", a)
			}
		}
		c.advance(n, 5*time.Minute)
		c.publish(1)

		// Without a manual rotation, the key is due for rotation at all three nodes at once,
		// after 90 days.
		c.advance(n, 90*24*time.Hour)
		old = c.publish(2)
		time.Sleep(time.Second) // gives a late node time to create another key
		if kids := c.kids(n); len(kids) != 2 || !strings.HasPrefix(old, "key_") {
			p.Violation("one rotation is due and there are keys %v", kids)
		}
		c.advance(n, time.Hour+5*time.Minute)
		if signer := c.crossed(p, at); signer != old {
			p.Violation("%s signs, the key that was made by itself is %s", signer, old)
		}
		c.publish(1)
	}
}
