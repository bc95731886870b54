package webhooks_test

import (
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// The model has a fixed number of apps and businesses. Its webhooks have indexes; an id is empty until the webhook exists.
const (
	modelApps       = 3
	modelBusinesses = 3
	modelHooks      = 12
)

// modelScopes are bits of a scopeSet, in this order.
var modelScopes = []string{"invoices:read", "customers:read", "payments:read", "suppliers:read"}

type scopeSet uint8

const allScopes scopeSet = 1<<4 - 1

func (s scopeSet) scopes() identity.Scopes {
	var names []string
	for i, name := range modelScopes {
		if s>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return identity.MustScopes(names...)
}

// modelKinds are events, with the scopes that gate them; those of an app's own
// life have none.
var modelKinds = []struct {
	name  string
	scope scopeSet
}{
	{"invoice.created", 1 << 0}, {"invoice.paid", 1 << 0}, {"customer.created", 1 << 1}, {"payment.received", 1 << 2},
	{"customer.redact", 1 << 1}, {"supplier.redact", 1 << 3},
	{events.AppDataUpdated, 0}, {events.AppInstalled, 0}, {events.AppUninstalled, 0}, {events.AppScopesUpdated, 0},
}

// The kinds that operations record themselves; the host records the kinds before them.
const (
	kindAppData = 6 + iota
	kindInstalled
	kindUninstalled
	kindScopesUpdated
)

// settings determine which events are sent to which webhook, as committed at one moment.
type settings struct {
	apps  [modelApps]modelApp
	links [modelApps][modelBusinesses]modelLink
	hooks [modelHooks]modelHook
}

type modelApp struct {
	status  partner.AppStatus
	scopes  scopeSet
	version string
}

// modelLink is an ACTIVE installation, or none.
type modelLink struct {
	born   birth
	scopes scopeSet
}

type modelHook struct {
	id, secret, previous string
	born                 birth
	app                  int
	kinds                []int // in order; never changed in place
	isOff, isDeleted     bool
	previousUntil        int64
}

// birth is when something came to be: by the order of operations, which start at 1, and
// by the clock.
type birth struct {
	order int
	at    int64 // Unix milliseconds
}

// happening is a recorded event.
type happening struct {
	birth
	id, data      string
	kind          int
	business, app int // no app: -1
	from          int // the number of the first settings that its planner can have read
}

// existed reports whether something may have existed when an event was recorded, and
// whether it may not have: within one millisecond both are possible.
func (b birth) existed(e *happening) (may, mayNot bool) {
	switch {
	case b.order < e.order:
		return true, false
	case b.at > e.at:
		return false, true
	}
	return true, true
}

// hears is CAT-02: whether a webhook may get an event that is planned in this
// settings, and whether it may not.
func (w *settings) hears(i int, e *happening) (may, mayNot bool) {
	h, scope := &w.hooks[i], modelKinds[e.kind].scope
	app := &w.apps[h.app]
	if h.id == "" || h.isDeleted || h.isOff || app.status == partner.AppDeactivated || !slices.Contains(h.kinds, e.kind) {
		return false, true
	}
	may, mayNot = h.born.existed(e)
	if scope == 0 {
		return may && h.app == e.app, mayNot || h.app != e.app
	}
	link := &w.links[h.app][e.business]
	if link.born.order == 0 || app.scopes&link.scopes&scope == 0 {
		return false, true
	}
	linked, notLinked := link.born.existed(e)
	return may && linked, mayNot || notLinked
}

// closed is DLV-03: why a delivery may not be sent in this settings; empty: it may.
func (w *settings) closed(d *modelDelivery) string {
	h := &w.hooks[d.hook]
	switch {
	case h.isDeleted:
		return "not sent: the webhook was deleted"
	case h.isOff:
		return "not sent: the webhook is switched off"
	case w.apps[h.app].status != partner.AppActive:
		return "not sent: the app is suspended or deactivated"
	case d.event == nil || modelKinds[d.event.kind].scope == 0:
		return ""
	}
	link := &w.links[h.app][d.event.business]
	switch {
	case link.born.order == 0:
		return "not sent: the app is not installed in the business"
	case w.apps[h.app].scopes&link.scopes&modelKinds[d.event.kind].scope == 0:
		return "not sent: the app or its installation lacks the scope of the event"
	}
	return ""
}

// refusal is RDL-01 to 03: the code that a redelivery is refused with; empty: it is
// not.
func (w *settings) refusal(d *modelDelivery, status string, now int64) string {
	h := &w.hooks[d.hook]
	switch {
	case h.isDeleted:
		return "not found"
	case d.isGone || now-d.created >= (30*24*time.Hour).Milliseconds():
		return "DELIVERY_TOO_OLD"
	case status != "failed":
		return "DELIVERY_NOT_FAILED"
	case w.apps[h.app].status != partner.AppActive:
		return "APP_NOT_ACTIVE"
	case h.isOff:
		return "WEBHOOK_NOT_ACTIVE"
	}
	if d.event != nil && modelKinds[d.event.kind].scope != 0 {
		link := &w.links[h.app][d.event.business]
		switch {
		case link.born.order == 0:
			return "APP_NOT_INSTALLED"
		case w.apps[h.app].scopes&link.scopes&modelKinds[d.event.kind].scope == 0:
			return "EVENT_SCOPE_MISSING"
		}
	}
	return ""
}

// signs is SIG-02: the secrets that sign at a time, the newest first.
func (h *modelHook) signs(at int64) []string {
	if h.previous != "" && at < h.previousUntil {
		return []string{h.secret, h.previous}
	}
	return []string{h.secret}
}
