// Package svix moves endpoints with their secrets from Svix, so that receivers go on with the
// libraries that they use.
package svix

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Endpoint is one of Svix: its API lists the endpoints of an application, and
// /api/v1/app/{app}/endpoint/{endpoint}/secret returns the key.
type Endpoint struct {
	URL         string   `json:"url"`
	FilterTypes []string `json:"filterTypes"` // none: all
	Disabled    bool     `json:"disabled"`
	Key         string   `json:"key"` // whsec_…
}

// Configure adds the headers of Standard Webhooks to each delivery: webhook-id,
// webhook-timestamp and webhook-signature, which the libraries of Svix verify as they do their
// svix-… names.
func Configure(c *partnerkit.Config) { c.Webhooks.StandardHeaders = true }

// Import adds the endpoints of a Svix application to an app. Types that your catalog does not
// have are refused, with their names. It returns the errors of all endpoints together: those
// without an error are there, so leave them out when you call it again.
func Import(ctx context.Context, p *partnerkit.Platform, appID string, endpoints []Endpoint) error {
	var all []error
	for _, e := range endpoints {
		types := e.FilterTypes
		if len(types) == 0 {
			for _, definition := range p.Events().Catalog().All() {
				types = append(types, definition.Name)
			}
		}
		_, _, err := p.Webhooks().Create(ctx, webhooks.NewWebhook{
			AppID: appID, URL: e.URL, Events: types, Disabled: e.Disabled,
			Secret: e.Key, StandardSecret: true,
			Verified: true, // it has received our events before
		})
		if err != nil {
			all = append(all, fmt.Errorf("endpoint %s: %w", e.URL, err))
		}
	}
	return errors.Join(all...)
}
