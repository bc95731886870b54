package nodes_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// way ends tokens, by a call at one node.
type way struct {
	name string
	user int
	// end returns a token that has ended with it.
	end func(c *cluster, n *node, p place, t tokens) (dead string)
	// back is the call of /dev that makes the next round possible.
	back func(p place) (path, body string)
	want int // of a call; 0: 401
}

// installation is the body of most calls.
func installation(p place) string {
	return fmt.Sprintf(`{"clientId": %q, "businessId": %q}`, p.clientID, p.business)
}

// by is a way that is one call of /dev.
func by(path, body func(p place) string) func(c *cluster, n *node, p place, t tokens) string {
	return func(c *cluster, n *node, p place, t tokens) string {
		c.dev(n, path(p), body(p))
		return t.access
	}
}

func always(text string) func(place) string { return func(place) string { return text } }

func status(value string) func(place) string { return always(`{"status": "` + value + `"}`) }

func ofApp(p place) string  { return "apps/" + p.clientID + "/status" }
func ofUser(p place) string { return "users/" + p.user + "/status" }

func revoked(c *cluster, n *node, p place, token string) {
	if a := c.post(n, "/oauth/revoke", p.clientID, "token", token); a.Status != http.StatusOK {
		c.Errorf("revoke: %v", a)
	}
}

var ways = []way{
	{name: "access token revoked", end: func(c *cluster, n *node, p place, t tokens) string {
		revoked(c, n, p, t.access)
		return t.access
	}},
	{name: "refresh token revoked", end: func(c *cluster, n *node, p place, t tokens) string {
		revoked(c, n, p, t.refresh)
		return t.access
	}},
	{name: "uninstalled", end: by(always("installations/uninstall"), installation)},
	{name: "access revoked", end: by(always("installations/revoke-access"), installation)},
	{name: "consent revoked", end: by(always("consents/revoke"), func(p place) string {
		return fmt.Sprintf(`{"clientId": %q, "businessId": %q, "userId": %q}`, p.clientID, p.business, p.user)
	})},
	{name: "scopes narrowed", end: by(always("installations/scopes"), func(p place) string {
		return fmt.Sprintf(`{"clientId": %q, "businessId": %q, "scopes": ["invoices:read"]}`, p.clientID, p.business)
	}), want: http.StatusForbidden},
	{name: "app suspended", end: by(ofApp, status("SUSPENDED")), back: func(p place) (string, string) { return ofApp(p), `{"status": "ACTIVE"}` }},
	{name: "user suspended", user: 1, end: by(ofUser, status("SUSPENDED")), back: func(p place) (string, string) { return ofUser(p), `{"status": "ACTIVE"}` }},
	{name: "user restricted", user: 2, end: by(ofUser, status("RESTRICTED")), back: func(p place) (string, string) { return ofUser(p), `{"status": "ACTIVE"}` }},
	{name: "refreshed", end: func(c *cluster, n *node, p place, t tokens) string {
		if a := c.refresh(n, p, t.refresh); a.Status != http.StatusOK {
			c.Errorf("refresh: %v", a)
		}
		return t.access
	}},
	{name: "refresh token replayed", end: func(c *cluster, n *node, p place, t tokens) string {
		a := c.refresh(c.nodes[0], p, t.refresh)
		if burn := c.refresh(n, p, t.refresh); burn.Text("error_description") != "refresh token reuse detected" {
			c.Errorf("replay: %v", burn)
		}
		return a.Text("access_token")
	}},
	{name: "code replayed", end: func(c *cluster, n *node, p place, _ tokens) string {
		code := c.code(n, p)
		a := c.redeem(c.nodes[0], p, code)
		if replay := c.redeem(n, p, code); replay.Text("error_description") != "code already used" {
			c.Errorf("replay: %v", replay)
		}
		return a.Text("access_token")
	}},
}

// API-09: after the response to a revocation, every node rejects the next call, and
// introspection reports the token as inactive.
func (c *cluster) revokesEverywhere() {
	p := proof.Begin(c, "A token ended at one node, used at the others at once", "uses")
	for i, w := range ways {
		c.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := c.on(t)
			for round := range testenv.Rounds(1, 40) {
				c.endsEverywhere(p, w, c.nodes[(i+round)%size], place{c.client(10 + i), c.business(round % businesses), c.user(w.user)})
			}
		})
	}
}

func (c *cluster) endsEverywhere(p *proof.Proof, w way, n *node, at place) {
	have := c.connect(c.nodes[1], at)
	for _, other := range c.nodes { // fills every cache a node could have
		if a := c.profile(other, have.access); a.Status != http.StatusOK {
			c.Fatalf("before the end: %v", a)
		}
	}
	want := max(w.want, http.StatusUnauthorized)
	dead := w.end(c, n, at, have)
	var wg sync.WaitGroup
	for _, other := range c.nodes {
		wg.Go(func() {
			if a := c.profile(other, dead); a.Status != want {
				p.Violation("%s: the next call at another node: %v", w.name, a)
			}
			p.Tried(1)
		})
		wg.Go(func() {
			a := c.post(other, "/oauth/introspect", at.clientID, "token", dead)
			if want == http.StatusUnauthorized && a.Body != `{"active":false}` {
				p.Violation("%s: introspection at another node: %v", w.name, a)
			}
			p.Tried(1)
		})
	}
	wg.Wait()
	if w.back != nil {
		path, body := w.back(at)
		c.dev(n, path, body)
	}
}
