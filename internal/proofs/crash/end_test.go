//go:build linux

package crash_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/internal/seed"
)

// patience is how long to wait before an expected event counts as missing.
const patience = 2 * time.Minute

// end waits until all clients have finished, and checks everything.
func (w *fixture) end(isPatient bool) {
	w.Helper()
	close(w.over)
	w.work.Wait()
	for i, one := range w.load.writers {
		one.finish(w.client(fmt.Sprint("finish ", i), nil), isPatient)
	}
	w.deadline = time.Now().Add(patience)
	w.check()
	if len(w.fresh) > 0 {
		w.violation("no node answers: %d records could not be checked", len(w.fresh))
	}
	w.checkFeeds()
	w.checkDeliveries()
	c := w.client("end", nil)
	w.checkTokens(c)
	for _, f := range w.feeds {
		if f.app == w.audit {
			w.checkBooks(c, f)
		}
	}
	for _, n := range w.nodes {
		if err := n.Stop(); err != nil {
			w.violation("a server that was asked to stop: %v", err)
		}
	}
	clear(w.nodes)
}

// checkFeeds reads all events again (EVT-02: nothing lands before a cursor), and looks
// for every record, in the order of its writer.
func (w *fixture) checkFeeds() {
	w.Helper()
	for _, f := range w.feeds {
		again := w.newFeed(f.app, f.business, f.token)
		if err := errors.Join(f.read(), again.read()); err != nil {
			w.violation("%v", err)
			continue
		}
		same := slices.EqualFunc(f.events, again.events, func(a, b event) bool { return a.ID == b.ID })
		if !same {
			w.violation("the events of %s for %s: %d page by page and %d at once are not the same", f.business, f.app.Name, len(f.events), len(again.events))
		}
		last := map[string]*record{}
		for _, e := range f.events {
			_, mark := e.told()
			r := w.records[mark]
			if r == nil || !r.isClean {
				continue
			}
			if before := last[r.writer]; before != nil && before.seq > r.seq {
				w.violation("%s was written before %s, and told after it", r.mark, before.mark)
			}
			last[r.writer] = r
		}
	}
	for _, r := range w.records {
		if r.isAcked {
			w.feedOf(r).has(r)
		}
	}
}

// checkDeliveries waits until every event has reached its webhook (DLV-05).
func (w *fixture) checkDeliveries() {
	w.Helper()
	c := w.client("deliveries", nil)
	moves := 0
	for missing := w.missing(false); len(missing) > 0; missing = w.missing(false) {
		if time.Now().After(w.deadline) {
			w.violation("%d events were not delivered, such as %s", len(missing), missing[0])
			break
		}
		if len(w.missing(true)) == 0 && moves < 5 { // the rest waits for its second attempt
			moves++
			c.send(call{method: "POST", path: "/dev/clock", json: map[string]int{"advanceSeconds": 61}})
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, text := range w.receiver.complaints() {
		w.violation("a receiver: %s", text)
	}
	w.checkStrangers()
	w.checkMoves()
	cookie := c.signIn(w.businesses[0])
	for _, a := range w.apps {
		for _, h := range a.Webhooks {
			w.checkHistory(c, cookie, "/developer/apps/"+a.ID+"/webhooks/"+h.ID+"/deliveries")
		}
	}
}

// missing returns the events that were not delivered. withoutFlaky leaves out the webhook
// whose receiver rejects deliveries.
func (w *fixture) missing(withoutFlaky bool) (missing []string) {
	for _, f := range w.feeds {
		for _, h := range f.app.Webhooks {
			if name := hookName(h); !withoutFlaky || name != flaky {
				got := w.receiver.of(name)
				for _, e := range f.events {
					if _, ok := got[e.ID]; !ok && slices.Contains(h.Events, e.Type) {
						missing = append(missing, name+" "+e.ID)
					}
				}
			}
		}
	}
	for id, what := range w.sent {
		if !w.receiver.has(id) {
			missing = append(missing, id+", "+what)
		}
	}
	return missing
}

// hookName returns the name of the receiver of a webhook.
func hookName(h seed.Webhook) string { return h.ID[len("whk_"):] }

// checkStrangers looks for deliveries of events that did not happen.
func (w *fixture) checkStrangers() {
	for _, a := range w.apps {
		if a == w.mover {
			continue // what it gets is in no feed while it is away
		}
		for _, h := range a.Webhooks {
			known := map[string]event{}
			for _, f := range w.feeds {
				if f.app == a {
					for _, e := range f.events {
						known[e.ID] = e
					}
				}
			}
			for id, d := range w.receiver.of(hookName(h)) {
				if e, ok := known[id]; !ok || e.Type != d.Type || e.BusinessID != d.Business || !sameJSON(e.Data, d.Data) {
					w.violation("%s got %s %s of %s, and /events has %+v", hookName(h), id, d.Data, d.Business, e)
				}
			}
		}
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// checkMoves counts the events that the repeatedly installed and uninstalled app received
// about its installations. It waits for events that are still in transit.
func (w *fixture) checkMoves() {
	w.Helper()
	var came, left int
	for ; ; time.Sleep(50 * time.Millisecond) {
		came, left = 0, 0
		for _, d := range w.receiver.of("moves") {
			if d.Type == "app.installed" {
				came++
			} else {
				left++
			}
		}
		if left == w.load.mover.left && came >= left || time.Now().After(w.deadline) {
			break
		}
	}
	if left != w.load.mover.left || came != left && came != left+1 {
		w.violation("an app left %d times, and was told that it came %d and left %d times", w.load.mover.left, came, left)
	}
}

// checkHistory checks that every delivery that the console shows has arrived.
func (w *fixture) checkHistory(c *client, cookie, path string) {
	w.Helper()
	for ; ; time.Sleep(50 * time.Millisecond) {
		a := c.send(call{method: "GET", path: path, cookie: cookie})
		if a.Status != http.StatusOK {
			w.violation("%s: %v", path, a)
			return
		}
		var list struct{ Data []struct{ ID, Status string } }
		a.read(&list)
		open := slices.DeleteFunc(list.Data, func(d struct{ ID, Status string }) bool {
			return d.Status == "delivered" && w.receiver.has(d.ID)
		})
		if len(open) == 0 {
			return
		}
		if time.Now().After(w.deadline) {
			w.violation("%s: %+v", path, open)
			return
		}
	}
}

// checkTokens checks that the tokens issued last work and that all revoked tokens are
// rejected.
func (w *fixture) checkTokens(c *client) {
	for _, k := range w.load.keepers {
		if k.Refresh == "" {
			continue
		}
		if a := c.refresh(k.as, k.Refresh); !a.isOK() {
			w.violation("tokens of %s were given and do not work: %v", k.as.Name, a)
		}
	}
	for i, d := range w.dead {
		if i%300 == 0 {
			c.move()
		}
		if !w.checkToken(c, d) {
			w.violation("no node answers about a token of %s", d.as.Name)
		}
	}
}

// checkBooks checks that the records match the events, and that the plan's counter is the
// sum of the records.
func (w *fixture) checkBooks(c *client, f *feed) {
	w.Helper()
	told := map[string]int{}
	for _, e := range f.events {
		if t, mark := e.told(); t.ID != "" {
			told[e.Type+" "+mark+" "+t.ID]++
		}
	}
	var sum int64
	for path, kind := range map[string]string{"/invoices": "invoice.created", "/customers": "customer.created"} {
		for _, r := range w.list(c, f, path) {
			name := kind + " " + r.Number + r.Name + " " + r.ID
			if told[name] != 1 {
				w.violation("%s of %s has %d events", name, f.business, told[name])
			}
			delete(told, name)
			sum += r.Total
		}
	}
	for name := range told {
		w.violation("%s has an event in %s, and is not there", name, f.business)
	}
	// The limit is reached once the turnover before the write is at the limit: the
	// second invoice passes only if the counter is not above the sum, and the third
	// is refused only if it is not below.
	for _, try := range []struct {
		total int64
		want  int
	}{{turnoverLimit - sum - 1, http.StatusCreated}, {1, http.StatusCreated}, {1, http.StatusForbidden}} {
		a := c.send(call{method: "POST", path: "/invoices", token: f.token, json: map[string]any{"number": "last", "currency": "EUR", "total": try.total}})
		if a.Status != try.want {
			w.violation("the plan of %s with invoices of %d: one more of %d: %v", f.business, sum, try.total, a)
		}
	}
}

type listed struct {
	ID, Number, Name string
	Total            int64
}

// list pages through records.
func (w *fixture) list(c *client, f *feed, path string) (all []listed) {
	w.Helper()
	for after := ""; ; {
		a := c.send(call{method: "GET", path: path + "?limit=100" + after, token: f.token})
		if a.Status != http.StatusOK {
			w.violation("%s of %s: %v", path, f.business, a)
			return all
		}
		var page struct {
			Data       []listed
			HasMore    bool
			NextCursor string
		}
		a.read(&page)
		all = append(all, page.Data...)
		if !page.HasMore {
			return all
		}
		after = "&after=" + page.NextCursor
	}
}
