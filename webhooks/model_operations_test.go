package webhooks_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

func address(hook int) string   { return fmt.Sprintf("127.0.7.%d", hook+1) }
func business(i int) string     { return fmt.Sprintf("biz_%d", i) }
func (m *model) dice(n int) int { return m.rand.IntN(n) }

type modelAct struct {
	weight int
	do     func(m *model) string
}

// modelActs are the possible operations. Each is applied to the sender and to the model,
// and returns a description, or nothing if it was not possible.
var modelActs = []modelAct{
	{24, (*model).record}, {5, (*model).recordForApp}, {60, (*model).late}, {14, (*model).behave}, {16, (*model).advance}, {6, (*model).sleep},
	{6, (*model).flip}, {2, (*model).delete}, {3, (*model).create}, {4, (*model).uninstall}, {5, (*model).install},
	{4, (*model).scopeApp}, {4, (*model).scopeLink}, {5, (*model).setStatus}, {3, (*model).pin}, {5, (*model).rotate}, {5, (*model).expire},
	{12, (*model).redeliver}, {4, (*model).age}, {3, (*model).fire}, {3, (*model).clean}, {3, (*model).kill}, {4, (*model).join}, {4, (*model).leave},
}

// operation does one of them.
func (m *model) operation() {
	total := 0
	for _, operation := range modelActs {
		total += operation.weight
	}
	for range 100 {
		n := m.dice(total)
		i := slices.IndexFunc(modelActs, func(a modelAct) bool {
			n -= a.weight
			return n < 0
		})
		if m.perform(func() string { return modelActs[i].do(m) }) {
			return
		}
	}
}

// perform takes notice of an operation, and reports whether it was one.
func (m *model) perform(do func() string) bool {
	m.order++
	what := do()
	if what == "" {
		return false
	}
	m.isQuiet = false
	m.note("%s", what)
	return true
}

// populate makes the apps, connects them and gives them webhooks.
func (m *model) populate() {
	now := m.clock.Now()
	for i := range m.apps {
		m.apps[i].App = fixture.App(now, allScopes.scopes())
		m.must(fixture.AddApp(m.t.Context(), m, m.apps[i].App))
		m.become(func(w *settings) { w.apps[i] = modelApp{status: partner.AppActive, scopes: allScopes} })
	}
	for range 6 {
		m.perform(m.install)
		m.perform(m.create)
	}
	for i := range modelHooks {
		m.perform(func() string { return m.setManner(i) })
	}
}

// birth is that of what the operation makes.
func (m *model) birth() birth {
	_, clock := m.now()
	return birth{m.order, clock}
}

// happened takes notice of an event that was committed, in the settings as it is now.
func (m *model) happened(e partner.Event, kind, business, app int) {
	m.pending = append(m.pending, &happening{
		birth: birth{m.order, e.CreatedAt.UnixMilli()}, id: e.ID, data: string(e.Data), kind: kind, business: business, app: app,
		from: m.seen[len(m.seen)-1].number,
	})
}

// record records some events of a business, in a transaction that is committed,
// perhaps a little later, or is not.
func (m *model) record() string {
	b := m.dice(modelBusinesses)
	var drafts []events.Draft
	var kinds []int
	for range 1 + m.dice(3) {
		kind := m.dice(kindAppData)
		kinds = append(kinds, kind)
		drafts = append(drafts, events.Draft{Type: modelKinds[kind].name, BusinessID: business(b), Data: map[string]any{"order": m.order, "html": "<b>&"}})
	}
	tx, err := m.BeginTx(m.t.Context())
	m.must(err)
	recorded, err := m.log.RecordIn(m.t.Context(), tx, drafts...)
	m.must(err)
	if m.dice(6) == 0 {
		m.must(tx.Rollback())
		return fmt.Sprintf("roll back events %v of %s", kinds, business(b))
	}
	if m.dice(6) == 0 {
		m.note("while a transaction is open: %s", m.advanceBy(90*time.Second))
	}
	m.must(tx.Commit(m.t.Context()))
	for i, e := range recorded {
		m.happened(e, kinds[i], b, -1)
	}
	return fmt.Sprintf("record events %v of %s: %s", kinds, business(b), recorded[0].ID)
}

// eventFor makes an event of an app's own life.
func (m *model) eventFor(kind, app, b int) partner.Event {
	now := m.clock.Now()
	return partner.Event{
		ID: id.New(id.Event, now), Type: modelKinds[kind].name, BusinessID: business(b), AppID: m.apps[app].ID,
		Data: []byte(fmt.Sprintf(`{"order":%d}`, m.order)), CreatedAt: now.Truncate(time.Millisecond),
	}
}

// late records an event while no dispatcher runs, and only then creates a webhook that
// would have received it.
func (m *model) late() string {
	if !m.isDown {
		return ""
	}
	m.perform(m.record)
	m.perform(func() string { return m.advanceBy(time.Millisecond) })
	if m.order++; m.dice(2) == 0 {
		return m.create()
	}
	return m.install()
}

func (m *model) recordForApp() string {
	app, b := m.dice(modelApps), m.dice(modelBusinesses)
	e := m.eventFor(kindAppData, app, b)
	m.must(m.RecordEvents(m.t.Context(), e))
	m.happened(e, kindAppData, b, app)
	return fmt.Sprintf("record an event of app %d in %s", app, business(b))
}
