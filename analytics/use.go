package analytics

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// UseStore keeps when each installation was used last.
type UseStore interface {
	// MarkUsed keeps the later of what is stored and what is given, for each
	// installation by its id, all or none of them.
	MarkUsed(ctx context.Context, at map[string]time.Time) error
	// LastUses returns when installations were used last; those that never were are
	// not in it.
	LastUses(ctx context.Context, installationIDs []string) (map[string]time.Time, error)
}

// uses is what was not written yet.
type uses struct {
	mu sync.Mutex
	at map[string]time.Time
}

// Use notes that an installation was used. Like Count it only adds to memory. Where
// memory is full of installations that were not written yet, it forgets.
func (c *Counter) Use(installationID string, at time.Time) {
	if installationID == "" || !text.IsStorable(installationID) {
		return
	}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	c.uses.note(installationID, at, c.cfg.MaxBuckets)
}

// note keeps the later time.
func (u *uses) note(installationID string, at time.Time, room int) {
	before, known := u.at[installationID]
	if !known && len(u.at) >= room || !at.After(before) {
		return
	}
	if u.at == nil {
		u.at = make(map[string]time.Time)
	}
	u.at[installationID] = at
}

// LastUses returns when installations were last used, to the present moment on this
// node, and on others to their last flush. Those that never were are not in it.
func (c *Counter) LastUses(ctx context.Context, installationIDs ...string) (map[string]time.Time, error) {
	stored, err := c.cfg.Store.LastUses(ctx, installationIDs)
	if err != nil {
		return nil, fmt.Errorf("analytics: %w", err)
	}
	latest := uses{at: stored}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	for _, id := range installationIDs {
		latest.note(id, c.uses.at[id], len(installationIDs))
	}
	return latest.at, nil
}

// sendUses writes what was noted. What cannot be written is noted again, so that the
// next flush takes it along: writing it twice changes nothing.
func (c *Counter) sendUses(ctx context.Context) error {
	c.uses.mu.Lock()
	taken := c.uses.at
	c.uses.at = nil
	c.uses.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	err := c.cfg.Store.MarkUsed(ctx, taken)
	if err == nil {
		return nil
	}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	for id, at := range maps.All(taken) {
		c.uses.note(id, at, c.cfg.MaxBuckets)
	}
	return fmt.Errorf("analytics: flush: %w", err)
}
