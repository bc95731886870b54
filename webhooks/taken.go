package webhooks

import "sync"

// takenSet is the deliveries of this process that are being sent, or were and are
// not recorded.
type takenSet struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (t *takenSet) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ids[id]
}

func (t *takenSet) add(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil {
		t.ids = map[string]bool{}
	}
	t.ids[id] = true
}

func (t *takenSet) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.ids, id)
}

func (t *takenSet) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.ids)
}
