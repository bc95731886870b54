package storetest

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// oneOf returns the record with an id of an app, from a list of the app's records.
func oneOf[T any](list func(ctx context.Context, appID string) ([]T, error), idOf func(T) string, absent error) func(ctx context.Context, appID, id string) (T, error) {
	return func(ctx context.Context, appID, id string) (T, error) {
		var none T
		all, err := list(ctx, appID)
		if err != nil {
			return none, err
		}
		for _, one := range all {
			if idOf(one) == id {
				return one, nil
			}
		}
		return none, absent
	}
}

func oneField(e partnerkit.Store) func(ctx context.Context, appID, id string) (valuestore.Field, error) {
	return oneOf(e.Fields, func(f valuestore.Field) string { return f.ID }, partner.ErrNotFound)
}

func oneExtension(e partnerkit.Store) func(ctx context.Context, appID, id string) (consolestore.Extension, error) {
	return oneOf(e.Extensions, func(x consolestore.Extension) string { return x.ID }, partner.ErrNotFound)
}

func oneFunction(e partnerkit.Store) func(ctx context.Context, appID, id string) (consolestore.Function, error) {
	return oneOf(e.Functions, func(f consolestore.Function) string { return f.ID }, partner.ErrNotFound)
}

func oneWebhook(e partnerkit.Store) func(ctx context.Context, appID, id string) (partner.Webhook, error) {
	return func(ctx context.Context, appID, id string) (partner.Webhook, error) {
		return e.Webhook(ctx, appID, id, time.Time{})
	}
}

// activeInstallation returns that of an app in a business.
func activeInstallation(e partnerkit.Store) func(ctx context.Context, appID, businessID string) (partner.Installation, error) {
	return func(ctx context.Context, appID, businessID string) (partner.Installation, error) {
		found, err := e.Installations(ctx, partner.InstallationQuery{AppID: appID, BusinessID: businessID})
		if err == nil && len(found) != 1 {
			err = partner.ErrNotFound
		}
		if err != nil {
			return partner.Installation{}, err
		}
		return found[0], nil
	}
}
