package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

const (
	attemptCookie = "partner_attempt"
	attemptFor    = 15 * time.Minute // longer than the service holds request and code
	maxAttempts   = 100
)

// connector is where businesses connect: /connect sends a browser to the service, which
// sends it back to /callback.
type connector struct {
	app     *client.App
	source  *client.Source
	outcome chan error // of each attempt that came back; nil: connected

	mu   sync.Mutex
	open map[string]openAttempt // by state
}

type openAttempt struct {
	client.Attempt
	until time.Time
}

func newConnector(app *client.App, source *client.Source) *connector {
	return &connector{app: app, source: source, outcome: make(chan error, 1), open: make(map[string]openAttempt)}
}

// connect begins an attempt. The cookie ties it to this browser: who is lured to
// /callback with another person's code and state does not have it.
func (d *connector) connect(w http.ResponseWriter, r *http.Request) {
	attempt := d.app.Begin()
	if !d.remember(attempt) {
		http.Error(w, "too many people are connecting; try again in a few minutes", http.StatusServiceUnavailable)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the app is reached over https
		Name: attemptCookie, Value: attempt.State, Path: "/callback", MaxAge: int(attemptFor / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(d.app.RedirectURL, "https:"),
	})
	http.Redirect(w, r, attempt.URL, http.StatusSeeOther)
}

// callback ends it. The tokens are stored before they are used.
func (d *connector) callback(w http.ResponseWriter, r *http.Request) {
	attempt, err := d.take(r)
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
	select {
	case d.outcome <- err:
	default: // no attempt is waiting
	}
	if err != nil {
		http.Error(w, "not connected; the reason is in the log", http.StatusBadRequest)
		return
	}
	_, _ = w.Write([]byte("Connected. You can close this page.\n"))
}

func (d *connector) remember(a client.Attempt) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for state, attempt := range d.open {
		if now.After(attempt.until) {
			delete(d.open, state)
		}
	}
	if len(d.open) >= maxAttempts {
		return false
	}
	d.open[a.State] = openAttempt{a, now.Add(attemptFor)}
	return true
}

// take finds the attempt of this browser, once.
func (d *connector) take(r *http.Request) (client.Attempt, error) {
	state := r.URL.Query().Get("state")
	cookie, err := r.Cookie(attemptCookie)
	if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(state)) != 1 {
		return client.Attempt{}, client.ErrState
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	attempt, ok := d.open[state]
	delete(d.open, state)
	if !ok || time.Now().After(attempt.until) {
		return client.Attempt{}, errors.New("this attempt is over; begin again at /connect")
	}
	return attempt.Attempt, nil
}
