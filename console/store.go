package console

import (
	"context"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// Store is all that the console keeps, beside what the features do.
type Store interface {
	AuditStore
	// App returns one; oauthserver.ErrNotFound.
	App(ctx context.Context, id string) (oauthserver.App, error)
}
