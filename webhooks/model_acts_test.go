package webhooks_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

func address(hook int) string   { return fmt.Sprintf("127.0.7.%d", hook+1) }
func business(i int) string     { return fmt.Sprintf("biz_%d", i) }
func (m *model) dice(n int) int { return m.rand.IntN(n) }

// modelActs are all that can happen. Each does it, to the sender and to the model,
// and says what it was; nothing if it was not possible.
var modelActs = []struct {
	weight int
	do     func(m *model) string
}{
	{24, (*model).record}, {5, (*model).recordForApp}, {14, (*model).behave}, {16, (*model).advance}, {6, (*model).sleep},
	{6, (*model).flip}, {2, (*model).delete}, {3, (*model).create}, {4, (*model).uninstall}, {5, (*model).install},
	{4, (*model).scopeApp}, {4, (*model).scopeLink}, {5, (*model).setStatus}, {3, (*model).pin}, {5, (*model).rotate},
	{12, (*model).redeliver}, {3, (*model).fire}, {3, (*model).clean}, {3, (*model).kill}, {4, (*model).join}, {4, (*model).leave},
}

// act does one of them.
func (m *model) act() {
	total := 0
	for _, act := range modelActs {
		total += act.weight
	}
	for range 100 {
		n := m.dice(total)
		i := slices.IndexFunc(modelActs, func(a struct {
			weight int
			do     func(m *model) string
		}) bool {
			n -= a.weight
			return n < 0
		})
		if m.perform("", func() string { return modelActs[i].do(m) }) {
			return
		}
	}
}

func (m *model) perform(what string, do func() string) bool {
	m.order++
	if text := do(); text != "" {
		what = text
	}
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
		m.apps[i].App = oauthserver.App{
			ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: oauthserver.Confidential, Status: oauthserver.AppActive,
			Origin: oauthserver.OriginConsole, Name: "App", OrganizationID: "org_1", Reviewed: true,
			RedirectURIs: []string{"https://app.example/cb"}, Scopes: allScopes.scopes(), CreatedAt: now,
		}
		m.must(m.CreateApp(m.t.Context(), m.apps[i].App, nil))
		m.become(func(w *world) { w.apps[i] = modelApp{status: oauthserver.AppActive, scopes: allScopes} })
	}
	for range 6 {
		m.perform("", m.install)
		m.perform("", m.create)
	}
	for i := range modelHooks {
		m.perform("", func() string { return m.setManner(i) })
	}
}

// birth is that of what the act makes.
func (m *model) birth() birth {
	_, clock := m.now()
	return birth{m.order, clock}
}

// happened takes notice of an event that was committed, in the world as it is now.
func (m *model) happened(e events.Event, kind, business, app int) {
	m.pending = append(m.pending, &happening{
		birth: birth{m.order, e.CreatedAt.UnixMilli()}, id: e.ID, data: string(e.Data), kind: kind, business: business, app: app,
		from: m.worlds[len(m.worlds)-1].number,
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
	recorded, err := m.log.Record(m.t.Context(), m.WithTx(tx), drafts...)
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
func (m *model) eventFor(kind, app, b int) events.Event {
	now := m.clock.Now()
	return events.Event{
		ID: id.New(id.Event, now), Type: modelKinds[kind].name, BusinessID: business(b), AppID: m.apps[app].ID,
		Data: []byte(fmt.Sprintf(`{"order":%d}`, m.order)), CreatedAt: now.Truncate(time.Millisecond),
	}
}

func (m *model) recordForApp() string {
	app, b := m.dice(modelApps), m.dice(modelBusinesses)
	e := m.eventFor(kindAppData, app, b)
	m.must(m.RecordEvents(m.t.Context(), e))
	m.happened(e, kindAppData, b, app)
	return fmt.Sprintf("record an event of app %d in %s", app, business(b))
}

// behave changes how an endpoint answers.
func (m *model) behave() string {
	return m.setManner(m.dice(modelHooks))
}

func (m *model) setManner(hook int) string {
	how := []int{0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 5}[m.dice(11)]
	m.receivers.set(address(hook), how)
	return fmt.Sprintf("webhook %d: %s", hook, manners[how].name)
}

// advance moves the clock, mostly to just before or after something is due.
func (m *model) advance() string {
	steps := []time.Duration{
		time.Millisecond, time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	}
	_, now := m.now()
	for _, d := range m.deliveries {
		for _, s := range d.may {
			if s.isWaiting() && s.due > now {
				steps = append(steps, ahead(now, s.due)...)
			}
		}
	}
	for _, h := range m.world.hooks {
		if h.previousUntil > now {
			steps = append(steps, ahead(now, h.previousUntil)...)
		}
	}
	if m.isQuiet { // alone: nothing else has to be thought of
		steps = append(steps, 29*24*time.Hour, 31*24*time.Hour)
		for _, d := range m.deliveries {
			if !d.isGone {
				steps = append(steps, ahead(now, d.created+webhooks.Retention.Milliseconds())[m.dice(3)])
				break
			}
		}
	}
	step := steps[m.dice(len(steps))]
	if step < 0 {
		return ""
	}
	return m.advanceBy(step)
}

// ahead are the steps to a time, and a millisecond around it.
func ahead(now, then int64) []time.Duration {
	d := time.Duration(then-now) * time.Millisecond
	return []time.Duration{d - time.Millisecond, d, d + time.Millisecond}
}

func (m *model) sleep() string {
	d := []time.Duration{time.Millisecond, 999 * time.Millisecond, 3 * time.Second, 10 * time.Second, 25 * time.Second}[m.dice(5)]
	time.Sleep(d)
	return fmt.Sprintf("let %v pass", d)
}

// hook picks a webhook that is not deleted; -1 when there is none.
func (m *model) hook() int {
	var all []int
	for i, h := range m.world.hooks {
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
	off := !m.world.hooks[i].isOff
	_, err := m.UpdateWebhook(m.t.Context(), m.appOf(i), m.world.hooks[i].id, func(w webhooks.Webhook) (webhooks.Webhook, error) {
		w.Enabled = !off
		return w, nil
	})
	m.must(err)
	m.become(func(w *world) { w.hooks[i].isOff = off })
	return fmt.Sprintf("webhook %d is off: %v", i, off)
}

func (m *model) appOf(hook int) string { return m.apps[m.world.hooks[hook].app].ID }

func (m *model) delete() string {
	i := m.hook()
	if i < 0 {
		return ""
	}
	m.must(m.DeleteWebhook(m.t.Context(), m.appOf(i), m.world.hooks[i].id, m.clock.Now()))
	m.become(func(w *world) { w.hooks[i].isDeleted = true })
	return fmt.Sprintf("delete webhook %d", i)
}

func (m *model) create() string {
	i := slices.IndexFunc(m.world.hooks[:], func(h modelHook) bool { return h.id == "" })
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
	m.become(func(all *world) {
		all.hooks[i] = modelHook{id: w.ID, secret: text, born: m.birth(), app: app, kinds: kinds}
	})
	return fmt.Sprintf("create webhook %d of app %d, %s, for %v", i, app, w.ID, kinds)
}

// link picks an app and a business, connected or not.
func (m *model) link(connected bool) (app, b int, ok bool) { //nolint:revive // which of the two
	for range 10 {
		app, b = m.dice(modelApps), m.dice(modelBusinesses)
		if connected == (m.world.links[app][b].born.order != 0) {
			return app, b, true
		}
	}
	return 0, 0, false
}

func (m *model) uninstall() string {
	app, b, ok := m.link(true)
	if !ok {
		return ""
	}
	now, e := m.clock.Now(), m.eventFor(kindUninstalled, app, b)
	_, err := m.EndInstallation(m.t.Context(), oauthserver.EndInstallation{
		AppID: m.apps[app].ID, BusinessID: business(b), Status: oauthserver.InstallationRemoved, Now: now, RedactAt: now.Add(oauthserver.RedactDelay),
		Record: func(oauthserver.Installation) []events.Event { return []events.Event{e} },
	})
	m.must(err)
	m.become(func(w *world) { w.links[app][b] = modelLink{} })
	m.happened(e, kindUninstalled, b, app)
	return fmt.Sprintf("uninstall app %d from %s", app, business(b))
}

func (m *model) install() string {
	app, b, ok := m.link(false)
	if !ok {
		return ""
	}
	now, e, scopes := m.clock.Now(), m.eventFor(kindInstalled, app, b), allScopes
	if m.dice(3) == 0 {
		scopes = scopeSet(1 + m.dice(int(allScopes)))
	}
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: secret.New(secret.ConsentRequest).Digest(), AppID: m.apps[app].ID,
		RedirectURI: m.apps[app].RedirectURIs[0], Scopes: scopes.scopes(), CreatedAt: now, ExpiresAt: now.Add(oauthserver.RequestLifetime),
	}
	m.must(m.HoldRequest(m.t.Context(), request))
	approved, err := m.ApproveRequest(m.t.Context(), oauthserver.Approval{
		RequestID: request.ID, UserID: "usr_1", BusinessID: business(b), InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Judge:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return []events.Event{e} },
	}, oauthserver.NewCode{ID: id.New(id.Code, now), Digest: secret.New(secret.AuthorizationCode).Digest(), ExpiresAt: now.Add(time.Minute)})
	m.must(err)
	if approved.Outcome != oauthserver.ApprovalDone {
		m.fail("approval ended with %q", approved.Outcome)
	}
	m.become(func(w *world) { w.links[app][b] = modelLink{m.birth(), scopes} })
	m.happened(e, kindInstalled, b, app)
	return fmt.Sprintf("install app %d in %s with scopes %04b", app, business(b), scopes)
}

// someScopes narrows or widens.
func (m *model) someScopes() scopeSet {
	if m.dice(2) == 0 {
		return allScopes
	}
	return scopeSet(m.dice(int(allScopes)))
}

func (m *model) scopeApp() string {
	app, scopes := m.dice(modelApps), m.someScopes()
	_, err := m.UpdateApp(m.t.Context(), m.apps[app].ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.Scopes = scopes.scopes()
		return a, nil
	})
	m.must(err)
	m.become(func(w *world) { w.apps[app].scopes = scopes })
	return fmt.Sprintf("app %d has scopes %04b", app, scopes)
}

func (m *model) scopeLink() string {
	app, b, ok := m.link(true)
	if !ok {
		return ""
	}
	scopes, e := m.someScopes(), m.eventFor(kindScopesUpdated, app, b)
	_, err := m.SetInstallationScopes(m.t.Context(), m.apps[app].ID, business(b), scopes.scopes(), func(_, _ oauthserver.Installation) []events.Event { return []events.Event{e} })
	m.must(err)
	m.become(func(w *world) { w.links[app][b].scopes = scopes })
	m.happened(e, kindScopesUpdated, b, app)
	return fmt.Sprintf("app %d has scopes %04b in %s", app, scopes, business(b))
}

// setStatus suspends an app, or lifts that: mostly nobody is suspended for long.
func (m *model) setStatus() string {
	app, status := m.dice(modelApps), oauthserver.AppSuspended
	if i := slices.IndexFunc(m.world.apps[:], func(a modelApp) bool { return a.status == oauthserver.AppSuspended }); i >= 0 && m.dice(4) > 0 {
		app = i
	}
	switch m.world.apps[app].status {
	case oauthserver.AppDeactivated:
		return ""
	case oauthserver.AppSuspended:
		status = oauthserver.AppActive
	}
	if m.dice(20) == 0 {
		status = oauthserver.AppDeactivated
	}
	m.must(m.SetAppStatus(m.t.Context(), m.apps[app].ID, status))
	m.become(func(w *world) { w.apps[app].status = status })
	return fmt.Sprintf("app %d is %s", app, status)
}

func (m *model) pin() string {
	app, version := m.dice(modelApps), []string{"", "2026-01-15"}[m.dice(2)]
	m.rig.pin(m.apps[app], version)
	m.become(func(w *world) { w.apps[app].version = version })
	return fmt.Sprintf("app %d has pinned %q", app, version)
}

func (m *model) rotate() string {
	i := m.hook()
	if i < 0 {
		return ""
	}
	text, until, err := m.process.svc.RotateSecret(m.t.Context(), m.appOf(i), m.world.hooks[i].id)
	m.must(err)
	_, now := m.now()
	if want := now + (24 * time.Hour).Milliseconds(); until.UnixMilli() != want {
		m.fail("the previous secret expires at %v, want %s", until, showMS(want))
	}
	m.become(func(w *world) {
		h := &w.hooks[i]
		h.secret, h.previous, h.previousUntil = text, h.secret, until.UnixMilli()
	})
	return fmt.Sprintf("rotate the secret of webhook %d", i)
}

// redeliver asks for a delivery again: mostly one that may be, sometimes any. In the
// middle of things only of those that have failed is it known what they are.
func (m *model) redeliver() string {
	_, now := m.now()
	isAny := m.dice(4) == 0
	var all []*modelDelivery
	for _, d := range m.deliveries {
		isFailed := !slices.ContainsFunc(d.may, func(s modelState) bool { return s.status != "failed" })
		if isAny && m.isQuiet || isFailed && (isAny || m.world.refusal(d, "failed", now) == "") {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return ""
	}
	d := all[m.dice(len(all))]
	want := m.world.refusal(d, d.may[0].status, now)
	h := m.world.hooks[d.hook]
	queued, err := m.process.svc.Redeliver(m.t.Context(), m.apps[h.app].ID, h.id, d.id)
	if got := codeOf(err); got != want && !(want == "DELIVERY_TOO_OLD" && got == "not found") {
		m.fail("redelivery of %s: %q (%v), want %q; it is %v", d.id, got, err, want, d.may)
	}
	if err == nil {
		if queued.ID != d.id || queued.Status != webhooks.Queued || queued.Attempts != 0 {
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
	case errors.Is(err, webhooks.ErrNotFound):
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
	d := &modelDelivery{hook: i}
	want := map[string]string{
		"": "", "not sent: the webhook is switched off": "WEBHOOK_NOT_ACTIVE", "not sent: the app is suspended or deactivated": "APP_NOT_ACTIVE",
	}[m.world.closed(d)]
	if m.world.apps[m.world.hooks[i].app].status != oauthserver.AppActive {
		want = "APP_NOT_ACTIVE"
	}
	queued, err := m.process.svc.SendTest(m.t.Context(), m.appOf(i), m.world.hooks[i].id)
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
	_, err := m.PurgeDeliveries(m.t.Context(), now.Add(-webhooks.Retention), 10_000)
	m.must(err)
	m.cleaned = now.UnixMilli()
	return "clean up"
}

func (m *model) kill() string {
	if m.isDown {
		return ""
	}
	m.process.kill()
	return "kill"
}

// join and leave change how many dispatchers share the work.
func (m *model) join() string {
	if m.isDown || m.process.isKilled() || len(m.process.running) > 2 {
		return ""
	}
	m.process.join()
	return "a dispatcher joins"
}

func (m *model) leave() string {
	if m.isDown || m.process.isKilled() || len(m.process.running) < 2 {
		return ""
	}
	m.process.leave()
	return "a dispatcher leaves"
}
