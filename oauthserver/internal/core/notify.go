package core

import (
	"context"

	"github.com/partnerkit/partnerkit/events"
)

// Tell queues a notification of now.
func (c *Core) Tell(ctx context.Context, n events.Notification) {
	n.At = c.Clock.Now()
	c.Notifications.Tell(ctx, n)
}
