package main

import (
	"context"
	"fmt"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// configureSandbox puts our backend into the sandbox that our partners run.
func configureSandbox(c *partnerkit.Config) error {
	store, ok := c.Store.(*sqlstore.Store)
	if !ok {
		return fmt.Errorf("a %T has no tables of ours", c.Store)
	}
	b, err := openBackend(context.Background(), store)
	if err != nil {
		return err
	}
	b.send = func(string, string) error { return nil } // no mail
	b.plugIn(c)
	return nil
}

// Connect keeps the platform, with which we record our events.
func (b *backend) Connect(p *partnerkit.Platform) { b.platform = p }
