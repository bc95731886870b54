package pages

import (
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

func webhookRoutes() []route {
	const webhook = "/apps/{appId}/webhooks/{webhookId}"
	return []route{
		{"GET", webhook, (*visit).showWebhook},
		{"POST", webhook, (*visit).saveWebhook},
		{"POST", webhook + "/delete", (*visit).deleteWebhook},
		{"POST", webhook + "/rotate-secret", (*visit).rotateSecret},
		{"POST", webhook + "/test", (*visit).sendTest},
		{"POST", webhook + "/verify", (*visit).verifyWebhook},
	}
}

// webhookID returns the id of the path's webhook.
func (v *visit) webhookID() string { return v.r.PathValue("webhookId") }

// webhookPath returns the path of a webhook of the app, or of a page below it.
func (v *visit) webhookPath(webhookID string, below ...string) string {
	return path(append([]string{"apps", v.app.ID, "webhooks", webhookID}, below...)...)
}

// fewDeliveries is how many deliveries the page of a webhook shows.
const fewDeliveries = 10

type webhookView struct {
	App        partner.App
	ReadOnly   bool
	Webhook    partner.Webhook
	Previous   look.Left     // until when the secret before this one signs too
	Charts     []look.Chart  // of the attempts of the last day; none without attempts
	Failures   []failure     // why deliveries have not arrived
	Deliveries deliveryTable // the newest few
	Badge      look.Badge
	LastError  string              // while it is failing or degraded
	Lacking    []events.Definition // chosen events whose scopes the app lacks
	Others     []string            // events that it has not chosen, to test it with
	Record     recordView

	Form      filled
	Events    []eventGroup
	NoSending string // why nothing can be sent; empty: it can
	Overlap   string // how long the present secret signs after a rotation
	IsChanged bool   // the form was sent, and has mistakes
	Verify    bool   // its endpoint has to answer a challenge
}

// webhook returns the page of the path's webhook; its form holds what the webhook is.
func (v *visit) webhook() (webhookView, error) {
	hook, err := v.cfg.Console.Webhook(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return webhookView{}, err
	}
	deliveries, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, v.app.ID, v.webhookID(), partner.DeliveryQuery{Limit: fewDeliveries, WithBodies: true})
	if err != nil {
		return webhookView{}, err
	}
	form := bodies.Form{"url": {hook.URL}, "events": hook.Events}
	setVersion(form, hook.Version)
	if hook.Enabled {
		form["enabled"] = []string{"on"}
	}
	view := webhookView{
		App: v.app, ReadOnly: v.isReadOnly(), Webhook: hook, Form: filled{Form: form}, Events: v.eventGroups(v.app, hook.Events),
		Overlap: span(v.cfg.Console.SecretOverlap()), NoSending: v.noSending(hook),
	}
	view.Verify = v.isUnverified(hook)
	if hook.Previous != nil {
		view.Previous = look.NewLeft(hook.PreviousExpiresAt, v.cfg.Clock.Now())
	}
	if view.Deliveries.Rows, err = v.deliveryRows(hook, deliveries.Deliveries); err != nil {
		return webhookView{}, err
	}
	view.Deliveries.MaySend = view.NoSending == "" && !view.ReadOnly && hasFailed(view.Deliveries.Rows)
	if view.Charts, err = v.attemptCharts(); err != nil {
		return webhookView{}, err
	}
	if view.Failures, err = v.failures(hook); err != nil {
		return webhookView{}, err
	}
	v.heading = "Webhook to " + endpoint(hook.URL)
	view.Badge, view.Lacking = healthBadge(hook), v.lacking(hook)
	for _, name := range v.eventNames() {
		if !slices.Contains(hook.Events, name) {
			view.Others = append(view.Others, name)
		}
	}
	if view.Record, err = v.recordable(hook); err != nil {
		return webhookView{}, err
	}
	switch {
	case hook.Health.IsFailing():
		view.LastError, err = v.lastError(time.Time{})
	case hook.Health.IsDegraded:
		view.LastError, err = v.lastError(v.cfg.Clock.Now().Add(-partner.FailingAfter))
	}
	return view, err
}

// noSending returns why neither a test nor an old delivery can be sent to a webhook;
// empty if it can.
func (v *visit) noSending(hook partner.Webhook) string {
	switch {
	case v.app.Status == partner.AppDeactivated:
		return "Nothing can be sent: the app was deactivated."
	case !v.app.IsUsable():
		return "Nothing can be sent while the app is suspended."
	case !hook.Enabled:
		return "Nothing can be sent while the webhook is off."
	case v.isUnverified(hook):
		return "Nothing can be sent until the webhook is verified."
	}
	return ""
}

func (v *visit) isUnverified(hook partner.Webhook) bool {
	return v.cfg.Console.VerifiesWebhooks() && !hook.UnverifiedSince.IsZero()
}

// verifyWebhook sends the challenge again.
func (v *visit) verifyWebhook() error {
	hook, err := v.cfg.Console.VerifyWebhook(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return v.webhookAgain(err)
	}
	return v.to(v.webhookPath(hook.ID), "webhook-challenged")
}

func (v *visit) showWebhook() error {
	view, err := v.webhook()
	if err != nil {
		return err
	}
	return v.showPlain("webhook", webhookTitle, view)
}

const webhookTitle = "Webhook"

// webhookAgain shows the page with the reason why something was refused.
func (v *visit) webhookAgain(refused error) error {
	view, err := v.webhook()
	if err != nil {
		return err
	}
	return v.again(refused, "webhook", webhookTitle, view)
}

func (v *visit) saveWebhook() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	form["events"] = v.chosenEvents(form)
	view, err := v.webhook()
	if err != nil {
		return err
	}
	_, err = v.cfg.Console.UpdateWebhook(v.r.Context(), v.by, v.app.ID, v.webhookID(), console.WebhookChange{
		URL: optional.Of(form.Get("url")), Events: optional.Of(inOrder(view.Webhook.Events, form["events"])), Enabled: optional.Of(form.Has("enabled")),
		Version: sentVersion(form),
	})
	if err != nil {
		err = conflict(err, form, "the webhook", view.Webhook.Version)
		view.Form, view.Events, view.IsChanged = v.mark(err, form, webhookFields), v.eventGroups(v.app, form["events"]), true
		return v.again(err, "webhook", webhookTitle, view)
	}
	return v.to(v.webhookPath(view.Webhook.ID), "webhook-updated")
}

func (v *visit) deleteWebhook() error {
	if err := v.cfg.Console.DeleteWebhook(v.r.Context(), v.by, v.app.ID, v.webhookID()); err != nil {
		return v.webhookAgain(err)
	}
	return v.to(path("apps", v.app.ID, "webhooks"), "webhook-deleted")
}

// rotateSecret makes a new signing secret and shows it, this once.
func (v *visit) rotateSecret() error {
	hook, err := v.cfg.Console.Webhook(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return err // before there is a secret to lose
	}
	secret, until, err := v.cfg.Console.RotateSecret(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return v.webhookAgain(err)
	}
	return v.show("webhook_secret", "The new signing secret", webhookSecretView{
		Webhook: hook, Secret: secret, Previous: look.NewLeft(until, v.cfg.Clock.Now()),
	})
}

// sendTest queues a test, and leads to the page that follows it.
func (v *visit) sendTest() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	queued, err := v.cfg.Console.SendTest(v.r.Context(), v.by, v.app.ID, v.webhookID(), form.Get("event"))
	if err != nil {
		return v.webhookAgain(err)
	}
	return v.to(v.webhookPath(queued.WebhookID, "deliveries", queued.ID), "test-queued")
}

func webhookListRoutes() []route {
	return []route{
		{"GET", "/apps/{appId}/webhooks", (*visit).showWebhooks},
		{"GET", "/apps/{appId}/webhooks/new", (*visit).showNewWebhook},
		{"POST", "/apps/{appId}/webhooks/new", (*visit).createWebhook},
	}
}

type webhooksView struct {
	App      partner.App
	ReadOnly bool
	Webhooks []webhookRow
	Bound    bound
}

type webhookRow struct {
	partner.Webhook
	Badge  look.Badge
	Shown  []string     // the first few events
	More   int          // besides these
	Last   *deliveryRow // nil: there is none yet
	Recent int          // how many deliveries are listed
	Failed int          // of those
	// Unverified reports that the endpoint has to answer a challenge.
	Unverified bool
}

// fewEvents is how many events of a webhook the list names.
const fewEvents = 3

func (v *visit) showWebhooks() error {
	hooks, err := v.cfg.Console.Webhooks(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return err
	}
	view := webhooksView{App: v.app, ReadOnly: v.isReadOnly(), Bound: bound{len(hooks), v.cfg.Console.MaxWebhooks(), "webhooks"}}
	for _, hook := range hooks {
		deliveries, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, v.app.ID, hook.ID, partner.DeliveryQuery{})
		if site.IsStatus(err, 404) {
			continue // deleted just now
		}
		if err != nil {
			return err
		}
		row := newWebhookRow(hook, deliveries.Deliveries)
		row.Unverified = v.isUnverified(hook)
		view.Webhooks = append(view.Webhooks, row)
	}
	return v.show("webhooks", "Webhooks", view)
}

func newWebhookRow(hook partner.Webhook, deliveries []partner.Delivery) webhookRow {
	row := webhookRow{Webhook: hook, Badge: healthBadge(hook), Shown: hook.Events[:min(fewEvents, len(hook.Events))], Recent: len(deliveries)}
	row.More = len(hook.Events) - len(row.Shown)
	for _, d := range deliveries {
		if d.Status == partner.DeliveryFailed || d.Status == partner.DeliveryRetrying {
			row.Failed++
		}
	}
	if len(deliveries) > 0 {
		last := newDeliveryRow(hook, deliveries[0])
		row.Last = &last
	}
	return row
}

const newWebhookTitle = "New webhook"

// webhookFields are the fields of the forms of a webhook.
var webhookFields = formFields{{Name: "url", Label: "URL"}, {Name: "events", Label: "Events"}}

type newWebhookView struct {
	App    partner.App
	Events []eventGroup
	Form   filled
}

func (v *visit) newWebhook(form filled) newWebhookView {
	return newWebhookView{App: v.app, Events: v.eventGroups(v.app, form.Form["events"]), Form: form}
}

func (v *visit) showNewWebhook() error {
	return v.show("webhook_new", newWebhookTitle, v.newWebhook(filled{}))
}

// createWebhook makes a webhook and shows its secret, this once.
func (v *visit) createWebhook() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	form["events"] = v.chosenEvents(form)
	hook, secret, err := v.cfg.Console.CreateWebhook(v.r.Context(), v.by, v.app.ID, console.NewWebhook{URL: form.Get("url"), Events: form["events"]})
	if err != nil {
		return v.again(err, "webhook_new", newWebhookTitle, v.newWebhook(v.mark(err, form, webhookFields)))
	}
	return v.show("webhook_secret", "The webhook was created", webhookSecretView{Webhook: hook, Secret: secret, Lacking: v.lacking(hook), Verify: v.isUnverified(hook)})
}

// webhookSecretView is a secret that signs from now on.
type webhookSecretView struct {
	Webhook  partner.Webhook
	Secret   string
	Previous look.Left // until when the one before it signs too; zero: there is none
	Verify   bool      // its endpoint has to answer a challenge
	Lacking  []events.Definition
}
