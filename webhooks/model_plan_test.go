package webhooks_test

import (
	"encoding/json"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// plan is DLV-04: the deliveries of new events are those that CAT-02 asks for.
func (m *model) plan(rows map[string]*row) {
	type key struct{ event, webhook string }
	made := map[key]string{}
	for id, r := range rows {
		if other := made[key{r.event, r.webhook}]; other != "" && r.event != "" {
			m.fail("event %s is delivered twice to %s: %s and %s", r.event, r.webhook, id, other)
		}
		made[key{r.event, r.webhook}] = id
	}
	for _, e := range m.pending {
		for i := range m.settings.hooks {
			may, mayNot := false, false
			for _, w := range m.seen {
				if w.number >= e.from {
					yes, no := w.hears(i, e)
					may, mayNot = may || yes, mayNot || no
				}
			}
			id := made[key{e.id, m.settings.hooks[i].id}]
			switch {
			case id == "" && !mayNot:
				m.fail("webhook %d does not hear of event %s, %s", i, e.id, modelKinds[e.kind].name)
			case id != "" && !may:
				m.fail("webhook %d hears of event %s, %s", i, e.id, modelKinds[e.kind].name)
			case id != "":
				r := rows[id]
				d := &modelDelivery{id: id, event: e, hook: i, body: r.body, created: r.created, may: []modelState{queuedState(r.created, "")}}
				if _, now := m.now(); d.created < e.at || d.created > now {
					m.fail("%s was created at %s", id, showMS(d.created))
				}
				m.checkBody(d)
				m.add(d)
			}
		}
	}
	m.pending = nil
}

func (m *model) add(d *modelDelivery) {
	m.deliveries = append(m.deliveries, d)
	m.byID[d.id] = d
	event := "a test"
	if d.event != nil {
		event = d.event.id + " " + modelKinds[d.event.kind].name + " of " + business(d.event.business)
	}
	m.note("%s is for webhook %d, of %s", d.id, d.hook, event)
}

// checkBody is WH-02: the members of a body.
func (m *model) checkBody(d *modelDelivery) {
	var got map[string]any
	if err := json.Unmarshal([]byte(d.body), &got); err != nil {
		m.fail("body of %s: %v", d.id, err)
	}
	h := m.settings.hooks[d.hook]
	want := map[string]any{"id": d.id, "apiVersion": got["apiVersion"]}
	if d.event == nil {
		want["eventId"], want["type"], want["businessId"], want["created"] = nil, modelKinds[h.kinds[0]].name, "test", float64(d.created/1000)
		want["data"] = got["data"] // a sample
		if got["data"].(map[string]any)["test"] != true {
			m.fail("a test does not say so: %s", d.body)
		}
	} else {
		var data any
		m.must(json.Unmarshal([]byte(d.event.data), &data))
		want["eventId"], want["type"], want["businessId"], want["created"] = d.event.id, modelKinds[d.event.kind].name, business(d.event.business), float64(d.event.at/1000)
		want["data"] = data
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.fail("body of %s (-want +got):\n%s", d.id, diff)
	}
	if !slices.ContainsFunc(m.seen, func(w numberedSettings) bool {
		version := w.apps[h.app].version
		return got["apiVersion"] == version || version == "" && got["apiVersion"] == modelVersion
	}) {
		m.fail("apiVersion of %s is %v", d.id, got["apiVersion"])
	}
}
