package pages

import (
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/partner"
)

// recordRoutes are for development: without Config.RecordEvent there are none.
func (p *Pages) recordRoutes() []route {
	if p.cfg.RecordEvent == nil {
		return nil
	}
	return []route{{"POST", "/apps/{appId}/webhooks/{webhookId}/record", (*visit).recordEvent}}
}

// recordView is the control that records events of a webhook.
type recordView struct {
	IsOffered  bool
	Businesses []string // that have connected the app, at most a page of them
}

// recordable is where events of a webhook can be recorded.
func (v *visit) recordable(hook partner.Webhook) (recordView, error) {
	if v.cfg.RecordEvent == nil || v.isReadOnly() {
		return recordView{}, nil
	}
	page, err := v.cfg.Console.Installations(v.r.Context(), v.by, hook.AppID, console.Page{})
	if err != nil {
		return recordView{}, err
	}
	view := recordView{IsOffered: true}
	for _, installation := range page.Items {
		if installation.Status == partner.InstallationActive {
			view.Businesses = append(view.Businesses, installation.BusinessID)
		}
	}
	return view, nil
}

// recordEvent records the sample of an event that the webhook has chosen.
func (v *visit) recordEvent() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	view, err := v.webhook()
	if err != nil {
		return err
	}
	draft, err := v.draft(view, form)
	if err != nil {
		return v.again(err, "webhook", webhookTitle, view)
	}
	if err := v.cfg.RecordEvent(v.r.Context(), draft); err != nil {
		return err
	}
	return v.to(v.webhookPath(view.Webhook.ID), "event-recorded")
}

// draft is the event of a form. Its error is one of apierror.
func (v *visit) draft(view webhookView, form bodies.Form) (events.Draft, error) {
	return v.sampleOf(form.Get("event"), form.Get("business"), view.Webhook.Events, view.Record.Businesses)
}
