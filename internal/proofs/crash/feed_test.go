//go:build linux

package crash_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// feed is the events of a business that an app reads.
type feed struct {
	app      *app
	business string
	token    string
	client   *client
	events   []event
	byMark   map[string]event
	byID     map[string]bool
}

type event struct {
	ID, Type, BusinessID string
	Data                 json.RawMessage
}

// told is the data of the events of this test.
type told struct {
	ID, Number, Name, Mark string
	Values                 []struct{ Value string }
}

func (e event) told() (t told, mark string) {
	if err := json.Unmarshal(e.Data, &t); err != nil {
		panic(err)
	}
	mark = cmp.Or(t.Number, t.Name, t.Mark)
	if len(t.Values) == 1 {
		mark = t.Values[0].Value
	}
	return t, mark
}

func (w *fixture) newFeed(a *app, business, token string) *feed {
	return &feed{
		app: a, business: business, token: token, byMark: map[string]event{}, byID: map[string]bool{},
		client: w.client(fmt.Sprint("feed ", a.Name, business), nil),
	}
}

// types returns the event types that the app has a webhook for.
func (f *feed) types() (all []string) {
	for _, h := range f.app.Webhooks {
		all = append(all, h.Events...)
	}
	return all
}

// read reads to the end, from the last position. EVT-03: no event comes twice.
func (f *feed) read() error {
	for {
		query := url.Values{"types": {strings.Join(f.types(), ",")}, "limit": {"100"}}
		if n := len(f.events); n > 0 {
			query.Set("after", f.events[n-1].ID)
		}
		a := f.client.send(call{method: "GET", path: "/events?" + query.Encode(), token: f.token})
		if a.isUnknown() {
			return fmt.Errorf("events: %v", a)
		}
		if a.Status != http.StatusOK {
			f.client.violation("/events of %s for %s: %v", f.business, f.app.Name, a)
			return nil
		}
		var page struct {
			Events  []event
			HasMore bool
		}
		a.read(&page)
		for _, e := range page.Events {
			f.add(e)
		}
		if !page.HasMore {
			return nil
		}
	}
}

// add adds an event and checks that a client requested it.
func (f *feed) add(e event) {
	_, mark := e.told()
	w := f.client.fixture
	w.lmu.Lock()
	r := w.records[mark]
	w.lmu.Unlock()
	switch _, isKnown := f.byMark[mark]; {
	case f.byID[e.ID]:
		w.violation("event %s comes twice", e.ID)
	case isKnown:
		w.violation("%s has happened twice: %s %s", mark, e.ID, e.Data)
	case r == nil || r.business != f.business || r.event != e.Type:
		w.violation("no client caused the event %+v in %s", e, f.business)
	}
	f.byMark[mark], f.byID[e.ID] = e, true
	f.events = append(f.events, e)
}

// has checks a record that was acknowledged before the feed was read.
func (f *feed) has(r *record) {
	e, ok := f.byMark[r.mark]
	if !ok {
		f.client.violation("%s (%s %s in %s) was acknowledged, and it has no event", r.mark, r.event, r.id, r.business)
		return
	}
	if t, _ := e.told(); r.id != "" && r.id != t.ID && r.id != e.ID {
		f.client.violation("%s was acknowledged as %s, and its event tells %s", r.mark, r.id, e.Data)
	}
}

// feedOf returns the feed that must contain a record.
func (w *fixture) feedOf(r *record) *feed {
	for _, f := range w.feeds {
		if f.business == r.business && (r.event == "app_data.updated") == (f.app != w.audit) && (f.app == w.audit || strings.HasPrefix(r.writer, f.app.Name+" ")) {
			return f
		}
	}
	panic("no feed for " + r.event)
}
