package nodes_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// each is how many requests of a race go to one node.
const each = 2

// CODE-06, REF-05, DEV-07, TX-04: single-use codes and tokens succeed once across all nodes.
func (c *cluster) hasOneWinner() {
	p := proof.Begin(c, "Codes, refresh tokens, device codes and session tokens, raced at three nodes", "races")
	oneWinner := func(what string, responses []response) (winner tokens) {
		p.Tried(1)
		counts := tally(responses)
		if counts["200"] != 1 || counts["400 invalid_grant"] != len(responses)-1 {
			p.Violation("%s: %v", what, counts)
		}
		for _, a := range responses {
			if a.Status == http.StatusOK {
				winner = tokens{a.Text("access_token"), a.Text("refresh_token")}
			}
		}
		return winner
	}
	// The other requests show that another client has the code or the token.
	burnt := func(what string, winner tokens) {
		for _, n := range c.nodes {
			if a := c.profile(n, winner.access); a.Status != http.StatusUnauthorized {
				p.Violation("%s: the winner's token lives after the others' replay: %v", what, a)
			}
		}
	}
	for round := range testenv.Rounds(2, 100) {
		n, place := c.nodes[round%size], c.place(24+round%16, round%businesses) // a client may ask 600 times a minute

		code := c.code(n, place)
		burnt("code", oneWinner("code", c.race(each, func(n *node) response { return c.redeem(n, place, code) })))

		refresh := c.connect(n, place).refresh
		burnt("refresh token", oneWinner("refresh token", c.race(each, func(n *node) response { return c.refresh(n, place, refresh) })))

		device := c.post(n, "/oauth/device/authorize", place.clientID)
		c.at(c.nodes[(round+1)%size], place).DecideDevice(device.Text("user_code"), "allow")
		oneWinner("device code", c.race(each, func(n *node) response {
			return c.post(n, "/oauth/token", place.clientID,
				"grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", device.Text("device_code"))
		}))

		session := c.sessionToken(n, place)
		oneWinner("session token", c.race(each, func(n *node) response { return c.exchange(n, place, session) }))
	}
}

func (c *cluster) sessionToken(n *node, p place) string {
	c.Helper()
	return c.dev(n, "session-tokens", fmt.Sprintf(`{"clientId": %q, "businessId": %q, "userId": %q}`, p.clientID, p.business, p.user)).Text("sessionToken")
}

func (c *cluster) exchange(n *node, p place, session string) response {
	return c.post(n, "/oauth/token", p.clientID, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange",
		"subject_token", session, "subject_token_type", "urn:ietf:params:oauth:token-type:jwt")
}

// IDEM-01: one key at three nodes creates one invoice.
func (c *cluster) doesItOnce() {
	p := proof.Begin(c, "One Idempotency-Key, raced at three nodes", "races")
	const app = 4
	kept := 0
	for round := range testenv.Rounds(4, 200) {
		business := round % businesses
		access := c.connect(c.nodes[round%size], c.place(app, business)).access
		number, key := fmt.Sprintf("N-%d", round), fmt.Sprintf("key-%d", round)
		create := func(n *node, total int) response {
			return c.call(n, access, http.MethodPost, "/invoices", fmt.Sprintf(`{"number": %q, "currency": "EUR", "total": %d}`, number, total), "Idempotency-Key", key)
		}
		responses := c.race(each, func(n *node) response { return create(n, 1) })
		for _, n := range c.nodes { // by now it is done
			responses = append(responses, create(n, 1))
		}
		counts := tally(responses)
		if counts["201"] < 1+size || counts["201"]+counts["409 IDEMPOTENCY_CONFLICT"] != len(responses) {
			p.Violation("%v", counts)
		}
		ids := map[string]bool{}
		for _, a := range responses {
			if a.Status == http.StatusCreated {
				ids[a.Text("id")] = true
				kept++
			}
		}
		listed := c.call(c.nodes[(round+1)%size], access, http.MethodGet, "/invoices?limit=100", "")
		if n := strings.Count(listed.Body, fmt.Sprintf("%q", number)); n != 1 || len(ids) != 1 {
			p.Violation("%d invoices, told of as %v", n, ids)
		}
		for _, n := range c.nodes {
			if a := create(n, 2); !a.is(http.StatusUnprocessableEntity, "IDEMPOTENCY_MISMATCH") {
				p.Violation("the key with another body: %v", a)
			}
		}
		p.Tried(1)
	}
	p.Notef("%d answers were the one that was kept", kept)
}

// CON-03: each step of a listing is made once.
func (c *cluster) listsOnce() {
	p := proof.Begin(c, "Steps of a listing, raced at three nodes", "races")
	developer := c.at(c.nodes[0], c.place(5, 0)).SignIn()
	for app := 5; app < 8; app++ {
		content := fmt.Sprintf(`{"slug": "slug-%d", "name": "Listing", "summary": "A summary", "description": "A description."}`, app)
		path := "apps/" + c.app(app) + "/listing"
		review := func(state string) func(n *node) response {
			return func(n *node) response {
				return c.send(http.DefaultClient, c.request(http.MethodPost, n.api+"/dev/apps/"+c.client(app)+"/listing", `{"state": "`+state+`"}`, "Content-Type", "application/json"))
			}
		}
		save := func(n *node) response { return c.console(n, developer, http.MethodPost, path, content) }
		submit := func(n *node) response { return c.console(n, developer, http.MethodPost, path+"/submit", "") }
		for round := range testenv.Rounds(1, 10) {
			for _, step := range []struct {
				name       string
				do         func(n *node) response
				won, after string
			}{
				{"first save", save, "201", "409 LISTING_EXISTS"},
				{"submit", submit, "200", "400 LISTING_STATE_INVALID"},
				{"in review", review("in_review"), "200", "400 LISTING_STATE_INVALID"},
				{"approve", review("approved"), "200", "400 LISTING_STATE_INVALID"},
			} {
				if round > 0 && step.name == "first save" {
					if a := c.console(c.nodes[round%size], developer, http.MethodPut, path, content); a.Status != http.StatusOK {
						c.Fatalf("a new revision: %v", a)
					}
					continue
				}
				counts := tally(c.race(each, step.do))
				p.Tried(1)
				if counts[step.won] != 1 || counts[step.after] != size*each-1 {
					p.Violation("%s: %v", step.name, counts)
				}
			}
		}
	}
}
