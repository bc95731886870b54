package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// The functions below change one of an app's items, through the method that changes all of
// them. Each decides by what it is shown under the lock, as the packages above the store do.

func addExtension(ctx context.Context, e partnerkit.Store, x console.Extension, check func(oauthserver.App) error) error {
	return e.ChangeExtensions(ctx, x.AppID, func(app oauthserver.App, all []console.Extension) ([]console.Extension, error) {
		if len(all) >= maxItems {
			return nil, console.ErrFull
		}
		return append(all, x), check(app)
	})
}

func updateExtension(ctx context.Context, e partnerkit.Store, appID, id string, change func(oauthserver.App, console.Extension) (console.Extension, error)) error {
	return e.ChangeExtensions(ctx, appID, func(app oauthserver.App, all []console.Extension) (_ []console.Extension, err error) {
		i := slices.IndexFunc(all, func(x console.Extension) bool { return x.ID == id })
		if i < 0 {
			return nil, oauthserver.ErrNotFound
		}
		all[i], err = change(app, all[i])
		return all, err
	})
}

func deleteExtension(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeExtensions(ctx, appID, func(_ oauthserver.App, all []console.Extension) ([]console.Extension, error) {
		return without(all, func(x console.Extension) bool { return x.ID == id }, oauthserver.ErrNotFound)
	})
}

func addFunction(ctx context.Context, e partnerkit.Store, f console.Function) error {
	return e.ChangeFunctions(ctx, f.AppID, func(all []console.Function) ([]console.Function, error) {
		if len(all) >= maxItems {
			return nil, console.ErrFull
		}
		return append(all, f), nil
	})
}

func deleteFunction(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeFunctions(ctx, appID, func(all []console.Function) ([]console.Function, error) {
		return without(all, func(f console.Function) bool { return f.ID == id }, oauthserver.ErrNotFound)
	})
}

func createField(ctx context.Context, e partnerkit.Store, f appdata.Field, limit int) error {
	return e.ChangeFields(ctx, f.AppID, noon, func(all []appdata.Field) ([]appdata.Field, error) {
		if len(all) >= limit {
			return nil, appdata.ErrTooMany
		}
		return append(all, f), nil
	})
}

func updateField(ctx context.Context, e partnerkit.Store, appID, id string, change func(appdata.Field) (appdata.Field, error)) error {
	return e.ChangeFields(ctx, appID, noon, func(all []appdata.Field) (_ []appdata.Field, err error) {
		i := slices.IndexFunc(all, func(f appdata.Field) bool { return f.ID == id })
		if i < 0 {
			return nil, appdata.ErrNotFound
		}
		all[i], err = change(all[i])
		return all, err
	})
}

func deleteField(ctx context.Context, e partnerkit.Store, appID, id string, now time.Time) error {
	return e.ChangeFields(ctx, appID, now, func(all []appdata.Field) ([]appdata.Field, error) {
		return without(all, func(f appdata.Field) bool { return f.ID == id }, appdata.ErrNotFound)
	})
}

func addSecret(ctx context.Context, e partnerkit.Store, s oauthserver.ClientSecret) error {
	return e.ChangeClientSecrets(ctx, s.AppID, func(all []oauthserver.ClientSecret) ([]oauthserver.ClientSecret, error) {
		return append(all, s), nil
	})
}

func endSecret(ctx context.Context, e partnerkit.Store, appID, id string) error {
	return e.ChangeClientSecrets(ctx, appID, func(all []oauthserver.ClientSecret) ([]oauthserver.ClientSecret, error) {
		valid := slices.DeleteFunc(slices.Clone(all), func(s oauthserver.ClientSecret) bool { return !s.EndedAt.IsZero() })
		if !slices.ContainsFunc(valid, func(s oauthserver.ClientSecret) bool { return s.ID == id }) {
			return nil, oauthserver.ErrNotFound
		}
		if len(valid) == 1 {
			return nil, oauthserver.ErrLastSecret
		}
		all[slices.IndexFunc(all, func(s oauthserver.ClientSecret) bool { return s.ID == id })].EndedAt = noon
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
