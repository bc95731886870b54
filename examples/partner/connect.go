package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

const (
	attemptCookie = "partner_attempt_" // and the state
	attemptFor    = 15 * time.Minute   // as long as the service holds request and code
	maxAttempts   = 10                 // of one browser; the cookies of more make its requests too long for servers
	spentStates   = 1000
)

// connector is where businesses connect: /connect sends a browser to the service, which
// sends it back to /callback. An attempt is kept in a cookie of the browser that began it.
type connector struct {
	app       *client.App
	source    *client.Source
	connected chan struct{} // has room for one
	say       func(format string, args ...any)

	// spent are the states that came back last, so that a second click sends no code twice.
	// A state that was forgotten is no danger: the service takes a code once.
	mu    sync.Mutex
	spent []string
}

func newConnector(app *client.App, source *client.Source, say func(format string, args ...any)) *connector {
	return &connector{app: app, source: source, connected: make(chan struct{}, 1), say: say}
}

// connect begins an attempt. The cookie ties it to this browser: a person who is lured to
// /callback with another person's code and state does not have it. Each attempt has a
// cookie of its own, for people who connect in several tabs.
func (d *connector) connect(w http.ResponseWriter, r *http.Request) {
	attempt := d.app.Begin()
	sealed, err := d.app.Seal(attempt, time.Now().Add(attemptFor))
	if err != nil {
		http.Error(w, "the attempt could not be begun", http.StatusInternalServerError)
		return
	}
	earlier := d.attempts(r)
	for _, name := range earlier[:max(0, len(earlier)-maxAttempts+1)] {
		d.setCookie(w, name, "", 0)
	}
	d.setCookie(w, d.cookieName(attempt.State), sealed, attemptFor)
	http.Redirect(w, r, attempt.URL, http.StatusSeeOther)
}

// cookieName is the name of an attempt's cookie. With the prefix a browser takes it from this
// host alone, and over https: another host of the domain, or one who changes what comes over
// http, could bring the browser into an attempt of their own.
func (d *connector) cookieName(state string) string {
	if d.isSecure() {
		return "__Host-" + attemptCookie + state
	}
	return attemptCookie + state
}

func (d *connector) isSecure() bool { return strings.HasPrefix(d.app.RedirectURL, "https:") }

// attempts returns the names of the cookies of earlier attempts, the oldest first: browsers
// send them so.
func (d *connector) attempts(r *http.Request) []string {
	var names []string
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, d.cookieName("")) {
			names = append(names, cookie.Name)
		}
	}
	return names
}

// setCookie keeps a sealed attempt in the browser; one that ends at once is deleted.
func (d *connector) setCookie(w http.ResponseWriter, name, sealed string, lifetime time.Duration) {
	maxAge := int(lifetime / time.Second)
	if maxAge <= 0 {
		maxAge = -1
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the app is reached over https
		Name: name, Value: sealed, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.isSecure(),
	})
}

// callback ends it. The tokens are stored before they are used.
func (d *connector) callback(w http.ResponseWriter, r *http.Request) {
	attempt, err := d.take(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A browser that is closed now must not take the tokens along.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	tokens, err := d.app.Finish(ctx, attempt, r.URL.Query())
	if err == nil {
		err = d.source.Put(tokens)
	}
	if err != nil {
		d.say("   => not connected: %v", err) // the story goes on waiting: it may be a stranger who failed
		http.Error(w, "not connected; the reason is in the log", http.StatusBadRequest)
		return
	}
	select {
	case d.connected <- struct{}{}:
	default: // nobody is waiting
	}
	_, _ = w.Write([]byte("Connected. You can close this page.\n"))
}

// take returns the attempt of this browser that has the state of the request, once.
func (d *connector) take(w http.ResponseWriter, r *http.Request) (client.Attempt, error) {
	state := r.URL.Query().Get("state")
	cookie, err := r.Cookie(d.cookieName(state))
	if err != nil {
		return client.Attempt{}, client.ErrState
	}
	d.setCookie(w, cookie.Name, "", 0)
	attempt, err := d.app.Open(state, cookie.Value, time.Now())
	if err == nil && !d.spend(state) {
		err = client.ErrAttempt
	}
	return attempt, err
}

// spend reports whether a state comes back for the first time.
func (d *connector) spend(state string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.spent, state) {
		return false
	}
	if len(d.spent) >= spentStates {
		d.spent = d.spent[1:]
	}
	d.spent = append(d.spent, state)
	return true
}
