//go:build linux

package crash_test

import (
	"fmt"
	"net/url"
	"sync"
)

// check compares the state of the service with the acknowledged operations: all of them
// are present, and none twice. It checks a random selection of tokens revoked earlier. No
// client starts an operation during the check.
func (w *fixture) check() {
	w.Helper()
	w.resting.Lock()
	defer w.resting.Unlock()
	fresh := w.takeFresh()
	byFeed := map[*feed][]*record{}
	for _, f := range w.feeds {
		if f.app == w.audit {
			byFeed[f] = nil
		}
	}
	for _, r := range fresh {
		f := w.feedOf(r)
		byFeed[f] = append(byFeed[f], r)
	}
	var reading sync.WaitGroup
	for f, records := range byFeed {
		reading.Go(func() {
			if err := f.read(); err != nil {
				w.lmu.Lock()
				defer w.lmu.Unlock()
				w.fresh = append(w.fresh, records...) // another time
				return
			}
			for _, r := range records {
				f.has(r)
			}
		})
	}
	reading.Go(w.checkDead)
	reading.Wait()
}

// checkDead checks that revoked tokens are rejected.
func (w *fixture) checkDead() {
	fresh, all := w.takeDead()
	c := w.client(fmt.Sprint("dead ", len(all)), nil)
	defer c.http.CloseIdleConnections()
	for range min(10, len(all)) {
		fresh = append(fresh, all[c.rng.IntN(len(all))])
	}
	for _, d := range fresh {
		if !w.checkToken(c, d) {
			w.died(d.as, d.why, d.token) // another time
		}
	}
}

// checkToken reports whether the server responded.
func (w *fixture) checkToken(c *client, d deadToken) bool {
	a := c.send(call{method: "POST", path: "/oauth/introspect", as: d.as, form: url.Values{"token": {d.token}}})
	if a.isUnknown() {
		return false
	}
	var is struct{ Active *bool }
	if a.isOK() {
		a.read(&is)
	}
	if is.Active == nil || *is.Active {
		w.violation("a token of %s lives, and was told to be dead: %s: %v", d.as.Name, d.why, a)
	}
	return true
}
