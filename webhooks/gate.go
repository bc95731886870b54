package webhooks

import (
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// gate is why a delivery may not be sent; empty: it may.
type gate string

// The gates, as metrics name them.
const (
	gateOpen         gate = ""
	gateDeleted      gate = "webhook_deleted"
	gateOff          gate = "webhook_off"
	gateApp          gate = "app_not_active"
	gateUninstalled  gate = "app_not_installed"
	gateScope        gate = "scope_missing"
	gateUnknownEvent gate = "unknown_event"
	gateUnverified   gate = "webhook_not_verified"
)

// text returns the last error that the developer reads.
func (g gate) text() string {
	return map[gate]string{
		gateDeleted:      "not sent: the webhook was deleted",
		gateOff:          "not sent: the webhook is switched off",
		gateApp:          "not sent: the app is suspended or deactivated",
		gateUninstalled:  "not sent: the app is not installed in the business",
		gateScope:        "not sent: the app or its installation lacks the scope of the event",
		gateUnknownEvent: "not sent: the event is no longer in the catalog",
		gateUnverified:   "the webhook is not verified",
	}[g]
}

// gate checks a delivery before it is sent, and before it is sent again. The last gate is that
// the webhook is verified: only a delivery that may be sent otherwise waits for that.
func (s *Service) gate(d partner.Delivery, now webhookstore.Standing) gate {
	closed := s.gateOf(d, now)
	if closed == gateOpen && s.isUnverified(now) {
		return gateUnverified
	}
	return closed
}

// gateOf checks everything but whether the webhook is verified. A test needs no installation
// and no scope, and neither does an event about the app itself.
func (s *Service) gateOf(d partner.Delivery, now webhookstore.Standing) gate {
	switch {
	case now.IsDeleted:
		return gateDeleted
	case !now.IsEnabled:
		return gateOff
	case !now.IsAppUsable:
		return gateApp
	case d.IsTest():
		return gateOpen
	}
	definition, ok := s.cfg.Catalog.Lookup(d.EventType)
	if !ok {
		return gateUnknownEvent
	}
	switch {
	case definition.IsVisible(d.AppID, now.Viewer):
		return gateOpen
	case definition.Audience != events.AudienceApp && !now.Viewer.IsInstalled:
		return gateUninstalled
	}
	return gateScope
}
