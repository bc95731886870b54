package nodes_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// response is a response. Its status is 0 if there was none.
type response struct{ servertest.Response }

// is reports a status, and the error or code with it.
func (a response) is(status int, code string) bool {
	return a.Status == status && (code == "" || a.Text("error") == code || a.Text("code") == code)
}

// place is a connection of an app: one installation and one user.
type place struct{ clientID, business, user string }

func (c *cluster) place(app, business int) place {
	return place{c.client(app), c.business(business), c.user(0)}
}

// tokens are the tokens of a partner.
type tokens struct{ access, refresh string }

// send makes a request. A failure before the response is an error of the test.
func (c *cluster) send(client *http.Client, r *http.Request) response {
	got, err := servertest.Send(client, r)
	if err != nil {
		c.Error(err)
	}
	return response{got}
}

// request of a kind that has a body or none, with headers in pairs.
func (c *cluster) request(method, address, body string, headers ...string) *http.Request {
	r, err := servertest.NewRequest(c.Context(), method, address, body, headers...)
	if err != nil {
		c.Error(err)
	}
	return r
}

// call makes a call of the API as a partner.
func (c *cluster) call(n *node, access, method, path, body string, headers ...string) response {
	r := c.request(method, n.api+path, body, append(headers, "Authorization", "Bearer "+access, "Content-Type", "application/json")...)
	return c.send(http.DefaultClient, r)
}

// profile makes the cheapest call.
func (c *cluster) profile(n *node, access string) response {
	return c.call(n, access, http.MethodGet, "/profile", "")
}

// post calls an OAuth endpoint as an app with its secret.
func (c *cluster) post(n *node, path, clientID string, form ...string) response {
	r := c.request(http.MethodPost, n.api+path, servertest.Values(form...).Encode(), "Content-Type", servertest.FormType)
	r.SetBasicAuth(clientID, secret)
	return c.send(http.DefaultClient, r)
}

// dev calls /dev. A status other than 200 is an error.
func (c *cluster) dev(n *node, path, body string) response {
	c.Helper()
	a := c.send(http.DefaultClient, c.request(http.MethodPost, n.api+"/dev/"+path, body, "Content-Type", "application/json"))
	if a.Status != http.StatusOK {
		c.Errorf("/dev/%s: %v", path, a)
	}
	return a
}

// console calls the console as a developer.
func (c *cluster) console(n *node, developer *http.Client, method, path, body string) response {
	return c.send(developer, c.request(method, n.api+"/developer/"+path, body, "Content-Type", "application/json"))
}

// at is a person at a node.
func (c *cluster) at(n *node, p place) *servertest.Server {
	return servertest.At(c, n.api, n.app, p.user, p.business)
}

// code approves an app as a user and returns the code.
func (c *cluster) code(n *node, p place) string {
	c.Helper()
	query := url.Values{
		"response_type": {"code"}, "client_id": {p.clientID}, "redirect_uri": {redirect},
		"scope": {"profile:read events:read invoices:read invoices:write"},
	}
	return c.at(n, p).Approve(n.app + "/oauth/authorize?" + query.Encode()).Get("code")
}

func (c *cluster) redeem(n *node, p place, code string) response {
	return c.post(n, "/oauth/token", p.clientID, "grant_type", "authorization_code", "code", code, "redirect_uri", redirect)
}

func (c *cluster) refresh(n *node, p place, refresh string) response {
	return c.post(n, "/oauth/token", p.clientID, "grant_type", "refresh_token", "refresh_token", refresh)
}

// connect gives an app tokens.
func (c *cluster) connect(n *node, p place) tokens {
	c.Helper()
	a := c.redeem(n, p, c.code(n, p))
	if a.Status != http.StatusOK {
		c.Fatalf("redeem: %v", a)
	}
	return tokens{a.Text("access_token"), a.Text("refresh_token")}
}

// race sends the same request several times to every node, all at once.
func (c *cluster) race(each int, send func(n *node) response) []response {
	responses := make([]response, len(c.nodes)*each)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range responses {
		wg.Go(func() {
			<-gate
			responses[i] = send(c.nodes[i%len(c.nodes)])
		})
	}
	close(gate)
	wg.Wait()
	return responses
}

// tally counts responses by status and error.
func tally(responses []response) map[string]int {
	counts := map[string]int{}
	for _, a := range responses {
		word := a.Text("code")
		if word == "" {
			word = a.Text("error")
		}
		counts[strings.TrimSpace(fmt.Sprint(a.Status, " ", word))]++
	}
	return counts
}
