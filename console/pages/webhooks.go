package pages

import (
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

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
		deliveries, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, console.Ref{AppID: v.app.ID, WebhookID: hook.ID}, partner.DeliveryQuery{})
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
