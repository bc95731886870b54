//go:build linux

package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// client is a program of a partner. Each client has its own address, because limits count
// by address.
type client struct {
	*fixture
	rng   *rand.Rand
	until chan struct{} // closed: it begins nothing more
	http  http.Client
}

// newAddress gives every client another one.
var newAddress atomic.Uint32

func (w *fixture) client(name string, until chan struct{}) *client {
	c := &client{fixture: w, rng: w.random(name), until: until}
	c.http = http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.move()
	return c
}

// move gives the client another address.
func (c *client) move() {
	c.http.CloseIdleConnections()
	n := newAddress.Add(1)
	from := &net.TCPAddr{IP: net.IPv4(127, 1+byte(n>>16), byte(n>>8), byte(n))}
	c.http.Transport = &http.Transport{DialContext: (&net.Dialer{LocalAddr: from, Timeout: time.Second}).DialContext}
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
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a response) isOK() bool      { return a.status >= 200 && a.status < 400 }
func (a response) isLimited() bool { return a.status == http.StatusTooManyRequests }

// isUnknown reports whether the operation may or may not have happened. A 5xx may be a
// commit whose response was lost.
func (a response) isUnknown() bool { return a.status == 0 || a.status >= 500 }

func (a response) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// read decodes the body.
func (a response) read(out any) {
	if err := json.Unmarshal(a.body, out); err != nil {
		panic(fmt.Sprintf("%v: %v", err, a))
	}
}

// oauthError returns the code and the description of an OAuth error.
func (a response) oauthError() string {
	var e struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.body, &e)
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
	res, err := c.http.Do(r)
	if err != nil {
		c.pending.Add(1)
		return response{}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.pending.Add(1)
		return response{}
	}
	a := response{res.StatusCode, res.Header, body}
	c.checkShape(in, a)
	return a
}

func (in call) request(n *node) *http.Request {
	var body io.Reader
	contentType := ""
	switch {
	case in.form != nil:
		body, contentType = strings.NewReader(in.form.Encode()), "application/x-www-form-urlencoded"
	case in.json != nil:
		data, err := json.Marshal(in.json)
		if err != nil {
			panic(err)
		}
		body, contentType = bytes.NewReader(data), "application/json"
	}
	host := n.API
	if in.onApp {
		host = n.App
	}
	r, err := http.NewRequestWithContext(context.Background(), in.method, host+in.path, body)
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
	if a.status < 400 {
		return
	}
	if a.status >= 500 {
		c.faults.Add(1)
		if !c.mayFault.Load() && a.status != http.StatusServiceUnavailable { // 503: the machine is too slow
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
	if err := json.Unmarshal(a.body, &body); err != nil || body.Error == "" || a.header.Get("Cache-Control") != "no-store" {
		c.violation("%s %s: %v is of no shape", in.method, in.path, a)
		return
	}
	isOAuth := strings.HasPrefix(in.path, "/oauth/")
	switch {
	case isOAuth && (body.StatusCode != 0 || a.status >= 500 && body.Error != "server_error"):
		c.violation("%s %s: %v is not of the OAuth shape", in.method, in.path, a)
	case !isOAuth && (body.StatusCode != a.status || body.Message == nil):
		c.violation("%s %s: %v is not of the standard shape", in.method, in.path, a)
	}
}
