package webhooks

import "sync"

// outstanding is the set of deliveries that this process has claimed and not recorded. It
// is safe for concurrent use.
type outstanding struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (o *outstanding) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids[id]
}

func (o *outstanding) add(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids == nil {
		o.ids = map[string]bool{}
	}
	o.ids[id] = true
}

func (o *outstanding) remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.ids, id)
}

func (o *outstanding) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.ids)
}
