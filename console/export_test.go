package console

import "time"

// What is tested by itself, or fuzzed.
var (
	IsPageOf   = isPageOf
	CheckImage = func(n NewAsset) error { _, err := checkImage(n); return err }
)

// SetCheckPatience sets how long the check of a function waits for its turn.
func (c *Console) SetCheckPatience(d time.Duration) { c.checks.patience = d }

// WaitingChecks returns how many checks wait for their turn.
func (c *Console) WaitingChecks() (n int) {
	c.checks.mu.Lock()
	defer c.checks.mu.Unlock()
	for _, waiting := range c.checks.waiting {
		n += len(waiting)
	}
	return n
}
