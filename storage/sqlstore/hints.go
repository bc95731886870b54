package sqlstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

const (
	// announceEvery is the minimum time between announcements to other processes.
	// Hints that arrive faster are announced together.
	announceEvery = 50 * time.Millisecond
	// announceWithin is the time limit for an announcement.
	announceWithin = time.Second
)

// The pauses after the line to the database broke, and after it proved to carry
// nothing, which a busy server can make it look like.
const (
	listenAgain = time.Second
	listenLater = 10 * time.Minute
)

// hub passes on hints. A hint means that a commit may have made work for a loop. It
// carries no data and may be lost; watchers also poll from time to time.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]bool // by topic
	news     map[string]bool                   // not announced yet
	announce chan struct{}                     // wakes Run
}

func newHub() *hub {
	return &hub{
		watchers: make(map[string]map[chan struct{}]bool),
		news:     make(map[string]bool),
		announce: make(chan struct{}, 1),
	}
}

// Watch returns a channel that receives after something new was committed on
// the topic. Hints are merged: one waits in the channel at most. stop ends it.
func (s *Store) Watch(topic string) (news <-chan struct{}, stop func()) {
	h, c := s.hub, make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[topic] == nil {
		h.watchers[topic] = make(map[chan struct{}]bool)
	}
	h.watchers[topic][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[topic], c)
	}
}

// Wake wakes the watchers of a topic on all nodes. It is for a host that committed its
// own transaction.
func (s *Store) Wake(topic string) { s.hub.publish(topic) }

// publish wakes the watchers here and leaves word for those elsewhere.
func (h *hub) publish(topics ...string) {
	if len(topics) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range topics {
		h.wake(topic)
		h.news[topic] = true
	}
	signal(h.announce)
}

// hear wakes the local watchers of a topic that another process announced; "" wakes those
// of all topics.
func (h *hub) hear(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic != "" {
		h.wake(topic)
		return
	}
	for topic := range h.watchers {
		h.wake(topic)
	}
}

func (h *hub) wake(topic string) {
	for c := range h.watchers[topic] {
		signal(c)
	}
}

func (h *hub) takeNews() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	topics := make([]string, 0, len(h.news))
	for topic := range h.news {
		topics = append(topics, topic)
	}
	clear(h.news)
	return topics
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run carries hints about new work between the processes that share the database, until ctx
// ends, and sends the remaining hints then. It returns nil. Without Run, or if
// the database cannot notify other processes, hints stay within the process, and workers of
// other processes find new work at their next poll. On SQLite Run does nothing useful.
func (s *Store) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.listen(ctx) })
	s.announce(ctx)
	wg.Wait()
	return nil
}

func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.db.Listen(ctx, s.hub.hear)
		switch {
		case ctx.Err() != nil || errors.Is(err, storage.ErrClosed):
			return
		case errors.Is(err, storage.ErrNoListen):
			s.log.InfoContext(ctx, "storage: processes cannot notify each other, polling instead", "reason", err)
			pause(ctx, listenLater)
		default:
			s.log.WarnContext(ctx, "storage: lost the connection for notifications, trying again", "err", err)
			pause(ctx, listenAgain)
		}
	}
}

func (s *Store) announce(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.hub.announce:
		}
		s.announceNews(ctx)
		pause(ctx, announceEvery)
	}
}

// announceNews continues after ctx has ended: the last announcement, that a dispatcher has
// left, is the one that other nodes need most.
func (s *Store) announceNews(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceWithin)
	defer cancel()
	for _, topic := range s.hub.takeNews() {
		if err := s.db.Announce(ctx, topic); err != nil && !errors.Is(err, storage.ErrClosed) {
			s.log.WarnContext(ctx, "storage: notification lost", "topic", topic, "err", err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// hintedTx is a transaction of BeginTx: we see its commit, so we can tell.
type hintedTx struct {
	storage.OpenTx
	hub    *hub
	topics []string
}

func (t *hintedTx) hint(topics ...string) { t.topics = append(t.topics, topics...) }

// Commit publishes what the operations that joined have hinted at.
func (t *hintedTx) Commit(ctx context.Context) error {
	if err := t.OpenTx.Commit(ctx); err != nil {
		return err
	}
	t.hub.publish(t.topics...)
	return nil
}
