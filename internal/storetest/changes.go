package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// The functions below change one of an app's items, through the method that changes all of
// them. Each decides by what it is shown under the lock, as the packages above the store do.

func addExtension(ctx context.Context, e partnerkit.Store, x consolestore.Extension, check func(partner.App) error) error {
	return e.ChangeExtensions(ctx, x.AppID, func(app partner.App, all []consolestore.Extension) ([]consolestore.Extension, error) {
		if len(all) >= maxItems {
			return nil, consolestore.ErrFull
		}
		return append(all, x), check(app)
	})
}

func updateExtension(ctx context.Context, e partnerkit.Store, appID, id string, change func(partner.App, consolestore.Extension) (consolestore.Extension, error)) error {
	return e.ChangeExtensions(ctx, appID, func(app partner.App, all []consolestore.Extension) (_ []consolestore.Extension, err error) {
		i := slices.IndexFunc(all, func(x consolestore.Extension) bool { return x.ID == id })
		if i < 0 {
			return nil, partner.ErrNotFound
		}
		all[i], err = change(app, all[i])
		return all, err
	})
}

func deleteExtension(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeExtensions(ctx, appID, func(_ partner.App, all []consolestore.Extension) ([]consolestore.Extension, error) {
		return without(all, func(x consolestore.Extension) bool { return x.ID == id }, partner.ErrNotFound)
	})
}

func addFunction(ctx context.Context, e partnerkit.Store, f consolestore.Function) error {
	return e.ChangeFunctions(ctx, f.AppID, func(all []consolestore.Function) ([]consolestore.Function, error) {
		if len(all) >= maxItems {
			return nil, consolestore.ErrFull
		}
		return append(all, f), nil
	})
}

func deleteFunction(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeFunctions(ctx, appID, func(all []consolestore.Function) ([]consolestore.Function, error) {
		return without(all, func(f consolestore.Function) bool { return f.ID == id }, partner.ErrNotFound)
	})
}

// errTooManyFields is returned by a change that finds too many fields.
var errTooManyFields = errors.New("too many fields")

func createField(ctx context.Context, e partnerkit.Store, f valuestore.Field, limit int) error {
	return e.ChangeFields(ctx, f.AppID, noon, func(all []valuestore.Field) ([]valuestore.Field, error) {
		if len(all) >= limit {
			return nil, errTooManyFields
		}
		return append(all, f), nil
	})
}

func updateField(ctx context.Context, e partnerkit.Store, appID, id string, change func(valuestore.Field) (valuestore.Field, error)) error {
	return e.ChangeFields(ctx, appID, noon, func(all []valuestore.Field) (_ []valuestore.Field, err error) {
		i := slices.IndexFunc(all, func(f valuestore.Field) bool { return f.ID == id })
		if i < 0 {
			return nil, partner.ErrNotFound
		}
		all[i], err = change(all[i])
		return all, err
	})
}

func deleteField(ctx context.Context, e partnerkit.Store, appID, id string, now time.Time) error {
	return e.ChangeFields(ctx, appID, now, func(all []valuestore.Field) ([]valuestore.Field, error) {
		return without(all, func(f valuestore.Field) bool { return f.ID == id }, partner.ErrNotFound)
	})
}

func addSecret(ctx context.Context, e partnerkit.Store, s partner.ClientSecret) error {
	return e.ChangeClientSecrets(ctx, s.AppID, func(all []partner.ClientSecret) ([]partner.ClientSecret, error) {
		return append(all, s), nil
	})
}

var errLastSecret = errors.New("the app has no other valid secret")

func endSecret(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeClientSecrets(ctx, appID, func(all []partner.ClientSecret) ([]partner.ClientSecret, error) {
		valid := slices.DeleteFunc(slices.Clone(all), func(s partner.ClientSecret) bool { return !s.EndedAt.IsZero() })
		if !slices.ContainsFunc(valid, func(s partner.ClientSecret) bool { return s.ID == id }) {
			return nil, partner.ErrNotFound
		}
		if len(valid) == 1 {
			return nil, errLastSecret
		}
		all[slices.IndexFunc(all, func(s partner.ClientSecret) bool { return s.ID == id })].EndedAt = noon
		return all, nil
	})
}

// without returns a list without one of its items, which must be there.
func without[T any](all []T, is func(T) bool, absent error) ([]T, error) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return nil, absent
	}
	return slices.Delete(all, i, i+1), nil
}
