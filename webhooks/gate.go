package webhooks

import "github.com/partnerkit/partnerkit/events"

// gate is why a delivery may not be sent; empty: it may.
type gate string

// The gates, in the words that the developer reads as last error.
const (
	gateOpen         gate = ""
	gateDeleted      gate = "not sent: the webhook was deleted"
	gateOff          gate = "not sent: the webhook is switched off"
	gateApp          gate = "not sent: the app is suspended or deactivated"
	gateUninstalled  gate = "not sent: the app is not installed in the business"
	gateScope        gate = "not sent: the app or its installation lacks the scope of the event"
	gateUnknownEvent gate = "not sent: the event is no longer in the catalog"
)

// gate looks at a delivery before it is sent, and before it is sent again: a test
// needs no installation and no scope, an event of the app's own life neither.
func (s *Service) gate(d Delivery, now Standing) gate {
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
	switch definition.Judge(d.AppID, now.Viewer) {
	case events.Visible:
		return gateOpen
	case events.NotInstalled:
		return gateUninstalled
	}
	return gateScope
}
