package pages

import (
	"net/url"
	gopath "path"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/partner"
)

// clockRoutes are for development: without Config.MoveClock there are none.
func (p *Pages) clockRoutes() []route {
	if p.cfg.MoveClock == nil {
		return nil
	}
	return []route{{"POST", "/clock", (*visit).moveClock}}
}

// step is how far the clock can be moved at once.
type step struct {
	Value, Text string // of a button
	by          time.Duration
}

// steps are the pauses between attempts, and what ends secrets and deliveries.
var steps = []step{
	{"1m", "1 min", time.Minute},
	{"5m", "5 min", 5 * time.Minute},
	{"30m", "30 min", 30 * time.Minute},
	{"1h", "1 h", time.Hour},
	{"2h", "2 h", 2 * time.Hour},
	{"6h", "6 h", 6 * time.Hour},
	{"24h", "24 h", 24 * time.Hour},
	{"30d", "30 days", 30 * 24 * time.Hour},
}

// clockSteps returns the buttons of the control; none without one.
func (p *Pages) clockSteps() []step {
	if p.cfg.MoveClock == nil {
		return nil
	}
	return steps
}

// moveClock takes the clock forward, and leads back to where that was asked for.
func (v *visit) moveClock() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(steps, func(s step) bool { return s.Value == form.Get("by") })
	if i < 0 {
		return apierror.InvalidAt("by", "must be one of the steps of the page")
	}
	back, ok := v.below(form.Get("return_to"))
	if !ok {
		return apierror.InvalidAt("return_to", "must be a page of the console")
	}
	if err := v.cfg.MoveClock(v.r.Context(), steps[i].by); err != nil {
		return err
	}
	return v.to(back, "clock-moved")
}

// below takes the prefix off the path of a page of ours.
func (p *Pages) below(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.EscapedPath() != address || gopath.Clean(u.Path) != u.Path {
		return "", false
	}
	rest, ok := strings.CutPrefix(address, p.cfg.Prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

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
