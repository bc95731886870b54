package console

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	// checksPerMinute is how many sources of an organization are checked in a minute. As many
	// can wait.
	checksPerMinute = 20
	// checkPatience is how long a check waits for its turn.
	checkPatience = 10 * time.Second
)

// errNoTurn says that a check could not begin in time.
var errNoTurn = errors.New("console: too many functions are waiting to be checked")

// turns lets the checks of functions of several organizations take turns: a slot that becomes
// free goes to the organization that has waited longest since its last one. There is a slot for
// each CPU that Go uses.
type turns struct {
	limiter  ratelimit.Limiter
	patience time.Duration

	mu      sync.Mutex
	free    int                        // 0 while anyone waits
	waiting map[string][]chan struct{} // by organization, the first to come first; closed when it gets a slot
	next    []string                   // the organizations that wait, in their order
}

// newTurns returns turns with a limiter of their own if it is nil.
func newTurns(limiter ratelimit.Limiter) (*turns, error) {
	if limiter == nil {
		memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxBytes: 1 << 20})
		if err != nil {
			return nil, err
		}
		limiter = memory
	}
	return &turns{limiter: limiter, patience: checkPatience, free: runtime.GOMAXPROCS(0), waiting: map[string][]chan struct{}{}}, nil
}

// beginCheck waits for the turn of an organization and counts its check. The caller gives the
// slot back. The error is 429 with the time to wait, or 503 if the turn does not come in time;
// neither takes a slot, and the latter is not counted.
func (c *Console) beginCheck(ctx context.Context, organizationID string) error {
	t, counter := c.checks, ratelimit.Counter{Key: ratelimit.NewKey("function checks", organizationID), Limit: ratelimit.PerMinute(checksPerMinute)}
	if peeker, ok := t.limiter.(ratelimit.Peeker); ok { // who is refused anyway does not wait
		now := c.cfg.Clock.Now()
		quotas, err := peeker.Peek(ctx, now, []ratelimit.Counter{counter})
		if err != nil {
			return err
		}
		if quotas[0].Remaining == 0 {
			return apierror.TooManyRequests(quotas[0].Reset)
		}
	}
	if err := t.take(ctx, organizationID); err != nil {
		return err
	}
	result, err := t.limiter.Check(ctx, c.cfg.Clock.Now(), ratelimit.Request{Counters: ratelimit.Counters{counter}})
	if err == nil && !result.Allowed {
		err = apierror.TooManyRequests(time.Duration(result.RetryAfter()) * time.Second)
	}
	if err != nil {
		t.give()
	}
	return err
}

// take waits for a slot.
func (t *turns) take(ctx context.Context, organizationID string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	before := t.waiting[organizationID]
	if len(before) >= checksPerMinute {
		t.mu.Unlock()
		return apierror.TooManyRequests(t.patience)
	}
	mine := make(chan struct{})
	t.waiting[organizationID] = append(before, mine)
	if len(before) == 0 {
		t.next = append(t.next, organizationID)
	}
	t.mu.Unlock()

	patience := time.NewTimer(t.patience)
	defer patience.Stop()
	err := error(nil)
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = apierror.Unavailable(errNoTurn).WithRetryAfter(t.patience)
	}
	if !t.leave(organizationID, mine) { // the slot came at the same moment
		t.give()
	}
	return err
}

// leave ends a wait. It reports false if the slot has been given already.
func (t *turns) leave(organizationID string, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting[organizationID], mine)
	if i < 0 {
		return false
	}
	left := slices.Delete(t.waiting[organizationID], i, i+1)
	t.waiting[organizationID] = left
	if len(left) == 0 {
		delete(t.waiting, organizationID)
		t.next = slices.DeleteFunc(t.next, func(id string) bool { return id == organizationID })
	}
	return true
}

// give passes a slot on to the organization whose turn it is.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.next) == 0 {
		t.free++
		return
	}
	organizationID := t.next[0]
	t.next = t.next[1:]
	first, rest := t.waiting[organizationID][0], t.waiting[organizationID][1:]
	if len(rest) == 0 {
		delete(t.waiting, organizationID)
	} else {
		t.waiting[organizationID] = rest
		t.next = append(t.next, organizationID)
	}
	close(first)
}
