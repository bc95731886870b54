//go:build linux

package crash_test

import (
	"net/http"
	"net/url"
	"time"
)

// keyLease is how long a key may stay in use after the server of its request was killed.
const keyLease = 30 * time.Second

// writer is an app that writes records of a business.
type writer struct {
	name     string
	as       *app
	business string
	access   string

	open     []*attempt // keyed writes without a response
	invoices []string   // that were acknowledged, the latest
	noted    map[string]string
}

// attempt is a write with an idempotency key.
type attempt struct {
	call
	records []*record
	lost    time.Time // the last attempt without a response
	due     time.Time
	made    int
}

// act writes a record, or repeats a write without a response.
func (w *writer) act(c *client) {
	if w.access == "" {
		t, _ := c.connect(w.as, w.business)
		w.access = t.Access
		return
	}
	for i, t := range w.open {
		if time.Now().After(t.due) {
			w.open = append(w.open[:i:i], w.open[i+1:]...)
			w.write(c, t)
			return
		}
	}
	switch n := c.rng.IntN(100); {
	case n < 65:
		w.write(c, w.keyed(c, "/invoices", "invoice.created", 1))
	case n < 75:
		w.write(c, w.keyed(c, "/invoices/bulk-import", "invoice.created", 3))
	case n < 80:
		w.write(c, w.keyed(c, "/customers", "customer.created", 1))
	case n < 88:
		w.plain(c)
	default:
		w.note(c)
	}
}

// keyed prepares a write of n records under a new key.
func (w *writer) keyed(c *client, path, event string, n int) *attempt {
	t := new(attempt)
	var bodies []any
	for range n {
		r := c.asks(w.name, w.business, event, 1+int64(c.rng.IntN(9)))
		t.records = append(t.records, r)
		bodies = append(bodies, r.body())
	}
	t.call = call{method: "POST", path: path, token: w.access, key: "key-" + t.records[0].mark, json: bodies[0]}
	if n > 1 {
		t.json = map[string]any{"invoices": bodies}
	}
	return t
}

func (r *record) body() any {
	if r.event == "customer.created" {
		return map[string]any{"name": r.mark}
	}
	return map[string]any{"number": r.mark, "currency": "EUR", "total": r.total}
}

// write sends a keyed write. A write without a response is sent again later with the same
// key.
func (w *writer) write(c *client, t *attempt) {
	t.made++
	a := c.send(t.call)
	switch {
	case a.Status == http.StatusCreated:
		w.accept(c, t, a)
		if c.rng.IntN(20) == 0 { // IDEM-01
			if again := c.send(t.call); !again.isUnknown() && !again.isLimited() && again.Body != a.Body {
				c.violation("the key of %s gives %v, and gave %v", t.records[0].mark, again, a)
			}
		}
	case a.isUnknown() || a.isLimited():
		t.lost = time.Now()
		w.later(t, 50*time.Millisecond)
	case a.Status == http.StatusConflict && t.made > 1:
		if since := time.Since(t.lost); since > keyLease+10*time.Second {
			c.violation("%v after its request has died the key of %s is taken: %v", since, t.records[0].mark, a)
			return
		}
		w.later(t, time.Second)
	default:
		c.unexpected("a write", a)
	}
}

func (w *writer) later(t *attempt, wait time.Duration) {
	t.due = time.Now().Add(wait)
	w.open = append(w.open, t)
}

// accept records an acknowledged write.
func (w *writer) accept(c *client, t *attempt, a response) {
	type made struct{ ID, Number, Name string }
	var body struct {
		made
		Created []made
	}
	a.read(&body)
	all := body.Created
	if len(all) == 0 {
		all = []made{body.made}
	}
	if len(all) != len(t.records) {
		c.violation("%d records asked for, %d answered", len(t.records), len(all))
		return
	}
	for i, r := range t.records {
		if all[i].Number != r.mark && all[i].Name != r.mark {
			c.violation("asked for %s, answered %+v", r.mark, all[i])
		}
		c.wrote(r, all[i].ID, t.made == 1)
	}
	kind := "keyed writes"
	if t.made > 1 {
		kind = "keyed writes, repeated"
	}
	c.acked(kind)
	if t.records[0].event == "invoice.created" {
		w.invoices = append(w.invoices, all[0].ID)
		w.invoices = w.invoices[max(0, len(w.invoices)-20):]
	}
}

// plain writes an invoice without a key: once, or not at all.
func (w *writer) plain(c *client) {
	r := c.asks(w.name, w.business, "invoice.created", 5)
	a := c.send(call{method: "POST", path: "/invoices", token: w.access, json: r.body()})
	if a.Status != http.StatusCreated {
		c.unexpected("an invoice", a)
		return
	}
	var made struct{ ID string }
	a.read(&made)
	c.wrote(r, made.ID, true)
	c.acked("writes without a key")
}

// note puts app data on an invoice. Without a response, it reads which value is stored.
func (w *writer) note(c *client) {
	if len(w.invoices) == 0 {
		return
	}
	id := w.invoices[c.rng.IntN(len(w.invoices))]
	if was, ok := w.noted[id]; ok {
		w.readNote(c, id, was, was)
	}
	r := c.asks(w.name, w.business, "app_data.updated", 0)
	a := c.send(call{method: "PUT", path: "/app-data", token: w.access, json: map[string]any{"values": []any{
		map[string]string{"resourceType": "invoice", "resourceId": id, "key": "note", "value": r.mark},
	}}})
	was := w.noted[id]
	switch {
	case a.isOK():
		w.noted[id] = r.mark
		c.wrote(r, "", true)
		c.acked("app data")
	case a.isUnknown():
		c.pause(200 * time.Millisecond) // the database may still commit a transaction of a killed node
		switch now, ok := w.readNote(c, id, was, r.mark); {
		case !ok:
			delete(w.noted, id)
		case now == r.mark:
			w.noted[id] = now
			c.wrote(r, "", false) // the value is stored, so its event must exist
		}
	default:
		c.unexpected("app data", a)
	}
}

// readNote reads a value, which must be one of the two.
func (w *writer) readNote(c *client, id, was, asked string) (now string, ok bool) {
	a, _ := c.insist(func() response {
		return c.send(call{method: "GET", path: "/app-data?" + url.Values{"resourceId": {id}}.Encode(), token: w.access})
	})
	if !a.isOK() {
		c.unexpected("app data", a)
		return "", false
	}
	var values struct{ Data []struct{ Value string } }
	a.read(&values)
	if len(values.Data) > 0 {
		now = values.Data[0].Value
	}
	if len(values.Data) > 1 || now != was && now != asked {
		c.violation("app data of %s: %s, want %q or %q", id, a.Body, was, asked)
	}
	return now, true
}

// finish repeats the open writes until all have a response. If isPatient is false, it
// does not wait for writes whose key is held by a request of a killed server.
func (w *writer) finish(c *client, isPatient bool) {
	for len(w.open) > 0 {
		t := w.open[0]
		w.open = w.open[1:]
		time.Sleep(time.Until(t.due))
		w.write(c, t)
		if n := len(w.open); !isPatient && n > 0 && w.open[n-1] == t && time.Until(t.due) > 500*time.Millisecond {
			w.open = w.open[:n-1] // taken: it may be there once, or not at all
		}
	}
}

// teller returns a function that records events without a record.
func (w *fixture) teller(name, business string) func(c *client) {
	return func(c *client) {
		r := c.asks(name, business, "invoice.paid", 0)
		a := c.send(call{method: "POST", path: "/dev/events", json: map[string]any{
			"businessId": business, "type": r.event, "data": map[string]string{"mark": r.mark},
		}})
		if !a.isOK() {
			c.unexpected("an event", a)
			return
		}
		var made struct{ ID string }
		a.read(&made)
		c.wrote(r, made.ID, true)
		c.acked("events")
	}
}
