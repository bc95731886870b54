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
	attemptFor    = 15 * time.Minute   // longer than the service holds request and code
	spentStates   = 1000
)

// connector is where businesses connect: /connect sends a browser to the service, which
// sends it back to /callback. An attempt is kept in a cookie of the browser that began it.
type connector struct {
	app     *client.App
	source  *client.Source
	outcome chan error // of each attempt that came back; nil: connected

	// spent are the states that came back last, so that a second click sends no code twice.
	// A state that was forgotten is no danger: the service takes a code once.
	mu    sync.Mutex
	spent []string
}

func newConnector(app *client.App, source *client.Source) *connector {
	return &connector{app: app, source: source, outcome: make(chan error, 1)}
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
	d.setCookie(w, attempt.State, sealed, attemptFor)
	http.Redirect(w, r, attempt.URL, http.StatusSeeOther)
}

// setCookie keeps a sealed attempt in the browser; one that ends at once is deleted.
func (d *connector) setCookie(w http.ResponseWriter, state, sealed string, lifetime time.Duration) {
	maxAge := int(lifetime / time.Second)
	if maxAge <= 0 {
		maxAge = -1
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the app is reached over https
		Name: attemptCookie + state, Value: sealed, Path: "/callback", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(d.app.RedirectURL, "https:"),
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

// take returns the attempt of this browser that has the state of the request, once.
func (d *connector) take(w http.ResponseWriter, r *http.Request) (client.Attempt, error) {
	state := r.URL.Query().Get("state")
	cookie, err := r.Cookie(attemptCookie + state)
	if err != nil {
		return client.Attempt{}, client.ErrState
	}
	d.setCookie(w, state, "", 0)
	attempt, err := d.app.Open(cookie.Value, time.Now())
	switch {
	case err != nil:
		return client.Attempt{}, err
	case attempt.State != state:
		return client.Attempt{}, client.ErrState
	case !d.spend(state):
		return client.Attempt{}, client.ErrAttempt
	}
	return attempt, nil
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
