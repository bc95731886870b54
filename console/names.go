package console

import (
	"context"
)

// BusinessNames returns the names of businesses by id. Businesses that never connected the app are
// left out, and so are names that the host does not know. Its error is one of apierror: 404.
func (c *Console) BusinessNames(ctx context.Context, by Actor, appID string, businessIDs ...string) (map[string]string, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	names := map[string]string{}
	if c.cfg.BusinessName == nil {
		return names, nil
	}
	isConnected, err := c.connected(ctx, appID)
	if err != nil {
		return nil, err
	}
	for _, id := range businessIDs {
		if _, ok := names[id]; ok || id == "" {
			continue
		}
		ok, err := isConnected(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if names[id], err = c.businessName(ctx, id); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// connected returns a function that reports whether a business has or had connected an app.
func (c *Console) connected(ctx context.Context, appID string) (func(businessID string) (bool, error), error) {
	// after lists those that come next after an id.
	after := func(id string) (map[string]bool, error) {
		found, err := c.cfg.Store.BusinessInstallations(ctx, appID, id, MaxLimit)
		ids := make(map[string]bool, len(found))
		for _, one := range found {
			ids[one.BusinessID] = true
		}
		return ids, err
	}
	first, err := after("")
	if err != nil {
		return nil, err
	}
	return func(businessID string) (bool, error) {
		if first[businessID] || len(first) < MaxLimit || len(businessID) < 2 || len(businessID) > maxBusinessID {
			return first[businessID], nil
		}
		// What is shorter by a character comes before it, and little comes between.
		near, err := after(businessID[:len(businessID)-1])
		return near[businessID], err
	}, nil
}
