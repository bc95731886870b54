//go:build linux

package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// client is a program of a partner. Each client has its own address, because limits count
// by address.
type client struct {
	*fixture
	rng   *rand.Rand
	until chan struct{} // closed: it begins nothing more
	http  *http.Client
}

func (w *fixture) client(name string, until chan struct{}) *client {
	return &client{fixture: w, rng: w.random(name), until: until, http: newHTTP()}
}

// move gives the client another address.
func (c *client) move() {
	c.http.CloseIdleConnections()
	c.http = newHTTP()
}

// newHTTP returns a client with another address.
func newHTTP() *http.Client {
	c := servertest.NewClient()
	c.Timeout = 30 * time.Second
	return c
}

// isOver reports whether the client must not start another operation.
func (c *client) isOver() bool {
	select {
	case <-c.until:
		return true
	default:
		return false
	}
}

// pause waits.
func (c *client) pause(d time.Duration) {
	select {
	case <-c.until:
	case <-time.After(d):
	}
}

// call is a request.
type call struct {
	method, path string
	onApp        bool   // the host
	to           *node  // nil: any
	token        string // bearer
	cookie       string
	as           *app   // Basic
	key          string // Idempotency-Key
	form         url.Values
	json         any
}

// response is the response to a call. Its status is 0 if there was no complete response.
type response struct{ servertest.Response }

func (a response) isOK() bool      { return a.Status >= 200 && a.Status < 400 }
func (a response) isLimited() bool { return a.Status == http.StatusTooManyRequests }

// isUnknown reports whether the operation may or may not have happened. A 5xx may be a
// commit whose response was lost.
func (a response) isUnknown() bool { return a.Status == 0 || a.Status >= 500 }

// read decodes the body.
func (a response) read(out any) {
	if err := a.Decode(out); err != nil {
		panic(fmt.Sprintf("%v: %v", err, a))
	}
}

// oauthError returns the code and the description of an OAuth error.
func (a response) oauthError() string {
	var e struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = a.Decode(&e)
	return strings.TrimSuffix(e.Error+": "+e.Description, ": ")
}

// send makes a call. If a limit rejects the call, a client that checks repeats it until
// it is allowed; a client of the load gets the rejection after a pause.
func (c *client) send(in call) response {
	for {
		a := c.try(in)
		if !a.isLimited() {
			return a
		}
		c.limited.Add(1)
		c.pause(100 * time.Millisecond)
		if c.until != nil {
			return a
		}
	}
}

// try is one attempt.
func (c *client) try(in call) response {
	n := in.to
	if n == nil {
		if n = c.pick(c); n == nil {
			return response{}
		}
	}
	r := in.request(n)
	got, err := servertest.Send(c.http, r)
	if err != nil {
		c.pending.Add(1)
		return response{}
	}
	a := response{got}
	c.checkShape(in, a)
	return a
}

func (in call) request(n *node) *http.Request {
	var body, contentType string
	switch {
	case in.form != nil:
		body, contentType = in.form.Encode(), servertest.FormType
	case in.json != nil:
		data, err := json.Marshal(in.json)
		if err != nil {
			panic(err)
		}
		body, contentType = string(data), "application/json"
	}
	host := n.API
	if in.onApp {
		host = n.App
	}
	r, err := servertest.NewRequest(context.Background(), in.method, host+in.path, body)
	if err != nil {
		panic(err)
	}
	set := func(name, value string) {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	set("Content-Type", contentType)
	set("Idempotency-Key", in.key)
	set("Cookie", in.cookie)
	if in.token != "" {
		set("Authorization", "Bearer "+in.token)
	}
	if in.as != nil {
		r.SetBasicAuth(in.as.ClientID, string(in.as.ClientSecret))
	}
	return r
}

// checkShape checks that errors have the format of their host (ERR-01, OERR-01). An
// internal error is a violation if only our own processes are killed.
func (c *client) checkShape(in call, a response) {
	if a.Status < 400 {
		return
	}
	if a.Status >= 500 {
		c.faults.Add(1)
		if !c.mayFault.Load() && a.Status != http.StatusServiceUnavailable { // 503: the machine is too slow
			c.violation("%s %s: %v, and nothing else had failed", in.method, in.path, a)
		}
	}
	if in.onApp {
		return // a page
	}
	var body struct {
		StatusCode int
		Message    any
		Error      string
	}
	if err := a.Decode(&body); err != nil || body.Error == "" || a.Header.Get("Cache-Control") != "no-store" {
		c.violation("%s %s: %v is of no shape", in.method, in.path, a)
		return
	}
	isOAuth := strings.HasPrefix(in.path, "/oauth/")
	switch {
	case isOAuth && (body.StatusCode != 0 || a.Status >= 500 && body.Error != "server_error"):
		c.violation("%s %s: %v is not of the OAuth shape", in.method, in.path, a)
	case !isOAuth && (body.StatusCode != a.Status || body.Message == nil):
		c.violation("%s %s: %v is not of the standard shape", in.method, in.path, a)
	}
}
