package operator

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// Names are the names of users, businesses and apps, by id. What has no name that is known is
// missing.
type Names struct{ Users, Businesses, Apps map[string]string }

// Names looks up names; each id once.
func (o *Operator) Names(ctx context.Context, _ Actor, ids NamedIDs) (Names, error) {
	var n Names
	var err error
	if n.Users, err = lookUp(ctx, ids.Users, func(ctx context.Context, id string) (string, error) {
		user, _, err := o.user(ctx, id)
		return user.Name, err
	}); err != nil {
		return Names{}, err
	}
	if n.Businesses, err = lookUp(ctx, ids.Businesses, o.businessName); err != nil {
		return Names{}, err
	}
	n.Apps, err = lookUp(ctx, ids.Apps, func(ctx context.Context, id string) (string, error) {
		app, err := o.cfg.Store.App(ctx, id)
		if errors.Is(err, partner.ErrNotFound) {
			return "", nil
		}
		return app.Name, err
	})
	return n, err
}

// NamedIDs are the ids of what has names.
type NamedIDs struct{ Users, Businesses, Apps []string }

func (o *Operator) businessName(ctx context.Context, id string) (string, error) {
	if o.cfg.BusinessName == nil {
		return "", nil
	}
	name, err := o.cfg.BusinessName(ctx, id)
	return text.Line(name), err
}

// lookUp asks for the name of each id once.
func lookUp(ctx context.Context, ids []string, find func(ctx context.Context, id string) (string, error)) (map[string]string, error) {
	names := make(map[string]string, len(ids))
	for _, id := range ids {
		if _, ok := names[id]; ok || id == "" || id == partner.ErasedUser {
			continue
		}
		name, err := find(ctx, id)
		if err != nil {
			return nil, err
		}
		names[id] = name
	}
	return names, nil
}
