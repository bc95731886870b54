package analytics

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// uses holds last uses that are not known to be stored.
type uses struct {
	mu sync.Mutex
	at map[string]time.Time
}

// Use notes that an installation, a client secret or a console token was used, by its id.
// Like Count it only adds to memory. Where memory is full of uses that were not written
// yet, it forgets.
func (c *Counter) Use(id string, at time.Time) {
	if id == "" || !text.IsStorable(id) {
		return
	}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	c.uses.note(id, at, c.cfg.MaxBuckets)
}

// note keeps the later time.
func (u *uses) note(id string, at time.Time, room int) {
	before, known := u.at[id]
	if !known && len(u.at) >= room || !at.After(before) {
		return
	}
	if u.at == nil {
		u.at = make(map[string]time.Time)
	}
	u.at[id] = at
}

// LastUses returns when each was last used, to the present moment on this
// node, and on others to their last flush. What was never used is not in it.
func (c *Counter) LastUses(ctx context.Context, ids ...string) (map[string]time.Time, error) {
	stored, err := c.cfg.Store.LastUses(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	latest := uses{at: stored}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	for _, id := range ids {
		latest.note(id, c.uses.at[id], len(ids))
	}
	return latest.at, nil
}

// unsentUses returns what was noted. It stays noted until it is stored.
func (c *Counter) unsentUses() map[string]time.Time {
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	return maps.Clone(c.uses.at)
}

// forgetUses forgets what was stored, unless an installation was used again since.
func (c *Counter) forgetUses(stored map[string]time.Time) {
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	for id, at := range stored {
		if c.uses.at[id].Equal(at) {
			delete(c.uses.at, id)
		}
	}
}
