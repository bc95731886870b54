package idempotency

import "context"

// Tidy does what Run does every minute.
func (i *Keys) Tidy(ctx context.Context) { i.janitor().Tidy(ctx, i.cfg.Clock.Now()) }
