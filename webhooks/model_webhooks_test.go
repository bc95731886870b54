package webhooks_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// hook picks a webhook that is not deleted; -1 when there is none.
func (m *model) hook() int {
	var all []int
	for i, h := range m.settings.hooks {
		if h.id != "" && !h.isDeleted {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[m.dice(len(all))]
}

func (m *model) flip() string {
	i := m.hook()
	if i < 0 {
		return ""
	}
	off := !m.settings.hooks[i].isOff
	_, err := m.UpdateWebhook(m.t.Context(), m.appOf(i), m.settings.hooks[i].id, func(w partner.Webhook) (partner.Webhook, error) {
		w.Enabled = !off
		return w, nil
	})
	m.must(err)
	m.become(func(w *settings) { w.hooks[i].isOff = off })
	return fmt.Sprintf("webhook %d is off: %v", i, off)
}

func (m *model) appOf(hook int) string { return m.apps[m.settings.hooks[hook].app].ID }

func (m *model) delete() string {
	i := m.hook()
	if i < 0 {
		return ""
	}
	m.must(m.DeleteWebhook(m.t.Context(), m.appOf(i), m.settings.hooks[i].id, m.clock.Now()))
	m.become(func(w *settings) { w.hooks[i].isDeleted = true })
	return fmt.Sprintf("delete webhook %d", i)
}

func (m *model) create() string {
	i := slices.IndexFunc(m.settings.hooks[:], func(h modelHook) bool { return h.id == "" })
	if i < 0 {
		return ""
	}
	app := m.dice(modelApps)
	kinds := m.rand.Perm(len(modelKinds))[:3+m.dice(len(modelKinds)-2)]
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = modelKinds[kind].name
	}
	w, text, err := m.process.svc.Create(m.t.Context(), webhooks.NewWebhook{AppID: m.apps[app].ID, URL: "http://" + address(i) + "/hook?a=b", Events: names})
	m.must(err)
	m.become(func(all *settings) {
		all.hooks[i] = modelHook{id: w.ID, secret: text, born: m.birth(), app: app, kinds: kinds}
	})
	return fmt.Sprintf("create webhook %d of app %d, %s, for %v", i, app, w.ID, kinds)
}

// rotate changes the secret of a webhook, mostly of one whose last change is not long
// ago, and sends something.
func (m *model) rotate() string {
	_, now := m.now()
	i := m.hook()
	if j := slices.IndexFunc(m.settings.hooks[:], func(h modelHook) bool { return !h.isDeleted && h.previousUntil > now }); j >= 0 && m.dice(3) > 0 {
		i = j
	}
	if i < 0 {
		return ""
	}
	text, until, err := m.process.svc.RotateSecret(m.t.Context(), m.appOf(i), m.settings.hooks[i].id)
	m.must(err)
	if want := now + (24 * time.Hour).Milliseconds(); until.UnixMilli() != want {
		m.fail("the previous secret expires at %v, want %s", until, showMS(want))
	}
	m.become(func(w *settings) {
		h := &w.hooks[i]
		h.secret, h.previous, h.previousUntil = text, h.secret, until.UnixMilli()
	})
	m.note("rotate the secret of webhook %d", i)
	return m.fireAt(i)
}

// expire goes to the end of a previous secret, or just before or after it, and sends
// something.
func (m *model) expire() string {
	_, now := m.now()
	i := m.hook()
	if i < 0 || m.settings.hooks[i].previousUntil <= now {
		return ""
	}
	m.note("%s", m.advanceBy(around(now, m.settings.hooks[i].previousUntil)[m.dice(3)]))
	return m.fireAt(i)
}

// redeliver asks for a delivery again: mostly one that may be, sometimes any. In the
// middle of things only of those that have failed is it known what they are.
func (m *model) redeliver() string {
	_, now := m.now()
	isAny := m.dice(4) == 0
	var all []*modelDelivery
	for _, d := range m.deliveries {
		if isAny && m.isQuiet || d.hasFailed() && (isAny || m.settings.refusal(d, "failed", now) == "") {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return m.redeliverOne(all[m.dice(len(all))])
}

// age asks for a delivery again on the day that it is too old, or just before.
func (m *model) age() string {
	_, now := m.now()
	i := slices.IndexFunc(m.deliveries, func(d *modelDelivery) bool { return d.hasFailed() && m.settings.refusal(d, "failed", now) == "" })
	if i < 0 || !m.isQuiet {
		return ""
	}
	m.note("%s", m.advanceBy(around(now, m.deliveries[i].created+webhooks.Retention.Milliseconds())[m.dice(3)]))
	return m.redeliverOne(m.deliveries[i])
}

func (d *modelDelivery) hasFailed() bool {
	return !slices.ContainsFunc(d.may, func(s modelState) bool { return s.status != "failed" })
}

func (m *model) redeliverOne(d *modelDelivery) string {
	_, now := m.now()
	want := m.settings.refusal(d, d.may[0].status, now)
	h := m.settings.hooks[d.hook]
	queued, err := m.process.svc.Redeliver(m.t.Context(), m.apps[h.app].ID, h.id, d.id)
	if got := codeOf(err); got != want {
		m.fail("redelivery of %s: %q (%v), want %q; it is %v", d.id, got, err, want, d.may)
	}
	if err == nil {
		if queued.ID != d.id || queued.Status != partner.DeliveryQueued || queued.Attempts != 0 {
			m.fail("redelivered: %+v", queued)
		}
		d.may = []modelState{queuedState(now, d.may[0].log)}
	}
	return fmt.Sprintf("redeliver %s: %q", d.id, want)
}

func codeOf(err error) string {
	var api *apierror.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, partner.ErrNotFound):
		return "not found"
	case errors.As(err, &api):
		return string(api.Code())
	}
	return err.Error()
}

// fire sends a test.
func (m *model) fire() string {
	i := m.hook()
	if i < 0 {
		return ""
	}
	return m.fireAt(i)
}

func (m *model) fireAt(i int) string {
	d := &modelDelivery{hook: i}
	want := map[string]string{
		"": "", "not sent: the webhook is switched off": "WEBHOOK_NOT_ACTIVE", "not sent: the app is suspended or deactivated": "APP_NOT_ACTIVE",
	}[m.settings.closed(d)]
	if m.settings.apps[m.settings.hooks[i].app].status != partner.AppActive {
		want = "APP_NOT_ACTIVE"
	}
	queued, err := m.process.svc.SendTest(m.t.Context(), m.appOf(i), m.settings.hooks[i].id, "")
	if got := codeOf(err); got != want {
		m.fail("test of webhook %d: %v, want %q", i, err, want)
	}
	if err == nil {
		_, now := m.now()
		d.id, d.created, d.body, d.may = queued.ID, now, string(queued.Body), []modelState{queuedState(now, "")}
		m.checkBody(d)
		m.add(d)
	}
	return fmt.Sprintf("test webhook %d: %q", i, want)
}

// clean removes what is old, as another node may do.
func (m *model) clean() string {
	now := m.clock.Now()
	_, err := m.Purge(m.t.Context(), storage.Purge{Kind: storage.PurgeDeliveries, Before: now.Add(-webhooks.Retention), Limit: 10_000})
	m.must(err)
	m.cleaned = now.UnixMilli()
	return "clean up"
}
