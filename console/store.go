package console

import (
	"context"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// Store is all that the console keeps, beside what the features do.
type Store interface {
	AuditStore
	ListingStore
	ReviewStore
	AssetStore
	ExtensionStore
	FunctionStore
	TokenStore
	InstallationStore
	LockStore
	EventStore
	FindStore
	// Transact runs several operations of the store in one transaction and returns
	// after its commit: each operation under the context that do is given joins it.
	// When do fails, the transaction is rolled back and the error of do is returned.
	// The function do may run more than once.
	Transact(ctx context.Context, do func(ctx context.Context) error) error
	// UserStatus is identity.UserActive unless another one was set.
	UserStatus(ctx context.Context, userID string) (identity.UserStatus, error)
	// App returns one; partner.ErrNotFound.
	App(ctx context.Context, id string) (partner.App, error)
	// Apps lists the apps that a query asks for, by id from the last to the first.
	Apps(ctx context.Context, q partner.AppQuery) ([]partner.App, error)
	// ClientSecrets lists those of an app, ended ones too, oldest first.
	ClientSecrets(ctx context.Context, appID string) ([]partner.ClientSecret, error)
}

// LockStore locks apps. A change of an app, or of what belongs to it, begins with the lock, so
// that it is decided in the transaction of the change.
type LockStore interface {
	// LockApp returns an app, which nothing else changes or locks until the transaction of
	// Store.Transact that it is called in ends; partner.ErrNotFound.
	LockApp(ctx context.Context, id string) (partner.App, error)
}
