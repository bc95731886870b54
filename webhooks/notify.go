package webhooks

import (
	"context"

	"github.com/partnerkit/partnerkit/events"
)

// tellHealth notifies of webhooks that began to fail, recovered or were switched off.
func (s *Service) tellHealth(ctx context.Context, r recordResult) {
	apps := map[string]string{}
	for _, o := range r.batch {
		apps[o.Due.WebhookID] = o.Due.AppID
	}
	tell := func(kind events.NotificationKind, ids []string) {
		for _, webhookID := range ids {
			s.cfg.Notifications.Tell(ctx, events.Notification{Kind: kind, At: s.cfg.Clock.Now(), AppID: apps[webhookID], WebhookID: webhookID})
		}
	}
	tell(events.NotifyWebhookFailing, r.finished.Failing)
	tell(events.NotifyWebhookRecovered, r.finished.Recovered)
	tell(events.NotifyWebhookDisabled, r.finished.Disabled)
}
