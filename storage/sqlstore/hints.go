package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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

// maxKeys is how many keys are remembered until a worker takes them, and how many are
// announced.
const maxKeys = 10_000

// heard is the hints about a topic that somebody has to be told of.
type heard struct {
	keys      map[string]string // with the least id each
	hasOthers bool
}

// add adds a hint for a key, or without one.
func (h *heard) add(key, from string) {
	if key == "" || len(h.keys) >= maxKeys {
		h.keys, h.hasOthers = nil, true
		return
	}
	if h.hasOthers {
		return // the worker looks at everything
	}
	if h.keys == nil {
		h.keys = make(map[string]string)
	}
	if least, ok := h.keys[key]; !ok || from < least {
		h.keys[key] = from
	}
}

func (h *heard) merge(other *heard) {
	if other.hasOthers {
		h.add("", "")
	}
	for key, from := range other.keys {
		h.add(key, from)
	}
}

// watcher is one that watches a topic.
type watcher struct {
	c     chan struct{}
	heard heard
}

// hub passes on hints. A hint means that a commit may have made work for a loop. It
// may be lost; watchers also poll from time to time.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[*watcher]bool // by topic
	news     map[string]*heard            // not announced yet, by topic
	announce chan struct{}                // wakes Run
}

func newHub() *hub {
	return &hub{watchers: make(map[string]map[*watcher]bool), news: make(map[string]*heard), announce: make(chan struct{}, 1)}
}

// Watch returns the hints about what is committed on a topic.
func (s *Store) Watch(topic string) *storage.Hints {
	h, w := s.hub, &watcher{c: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[topic] == nil {
		h.watchers[topic] = make(map[*watcher]bool)
	}
	h.watchers[topic][w] = true
	return &storage.Hints{
		C: w.c,
		Take: func() (map[string]string, bool) {
			h.mu.Lock()
			defer h.mu.Unlock()
			taken := w.heard
			w.heard = heard{}
			return taken.keys, taken.hasOthers
		},
		Stop: func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.watchers[topic], w)
		},
	}
}

// Wake wakes the watchers of a topic on all nodes. It is for a host that committed its
// own transaction.
func (s *Store) Wake(topic string) { s.hub.publish(storage.Hint{Topic: topic}) }

// publish wakes the watchers here and leaves word for those elsewhere.
func (h *hub) publish(hints ...storage.Hint) {
	if len(hints) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, hint := range hints {
		one := heard{}
		one.add(hint.Key, hint.From)
		h.wake(hint.Topic, &one)
		if h.news[hint.Topic] == nil {
			h.news[hint.Topic] = &heard{}
		}
		h.news[hint.Topic].merge(&one)
	}
	signal(h.announce)
}

// hear wakes the local watchers that an announcement of another process is for; "" wakes
// those of all topics.
func (h *hub) hear(announced string) {
	topic, keys, hasKeys := strings.Cut(announced, " ")
	one := heard{hasOthers: true}
	if hasKeys {
		one.hasOthers = false
		if err := json.Unmarshal([]byte(keys), &one.keys); err != nil {
			one = heard{hasOthers: true}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic != "" {
		h.wake(topic, &one)
		return
	}
	for topic := range h.watchers {
		h.wake(topic, &one)
	}
}

func (h *hub) wake(topic string, of *heard) {
	for w := range h.watchers[topic] {
		w.heard.merge(of)
		signal(w.c)
	}
}

// maxAnnouncement is how long an announcement may be: PostgreSQL takes less than 8,000 bytes.
const maxAnnouncement = 7000

// takeNews returns what is to be announced.
func (h *hub) takeNews() (announcements []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic, heard := range h.news {
		announcements = append(announcements, heard.announcements(topic)...)
	}
	clear(h.news)
	return announcements
}

// announcements returns the topic with its keys, in as many texts as they need.
func (h *heard) announcements(topic string) (texts []string) {
	if h.hasOthers {
		return []string{topic}
	}
	part, size := map[string]string{}, 0
	flush := func() {
		text, _ := json.Marshal(part) // texts always encode
		texts = append(texts, topic+" "+string(text))
		part, size = map[string]string{}, 0
	}
	for key, from := range h.keys {
		quoted, _ := json.Marshal(key + from)
		if len(quoted) > maxAnnouncement/2 {
			return []string{topic}
		}
		if size += len(quoted) + len(`"":"",`); size > maxAnnouncement {
			flush()
			size = len(quoted)
		}
		part[key] = from
	}
	flush()
	return texts
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run carries hints about new work between the processes that share the database, until ctx
// ends, and sends the remaining hints then. It also fills the columns that migrations added,
// and makes the tables of the next days if days have tables of their own. It returns nil. Without
// Run, or if the database cannot notify other processes, hints stay within the process, and
// workers of other processes find new work at their next poll.
func (s *Store) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.listen(ctx) })
	wg.Go(func() { s.backfill(ctx) })
	wg.Go(func() { s.keepDays(ctx) })
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
			s.log.InfoContext(ctx, "storage: processes cannot notify each other, polling instead", "err", err)
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
	for _, text := range s.hub.takeNews() {
		if err := s.db.Announce(ctx, text); err != nil && !errors.Is(err, storage.ErrClosed) {
			s.log.WarnContext(ctx, "storage: notification lost", "notification", text, "err", err)
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
	hub   *hub
	hints []storage.Hint
}

func (t *hintedTx) hint(hints ...storage.Hint) { t.hints = append(t.hints, hints...) }

// Commit publishes what the operations that joined have hinted at.
func (t *hintedTx) Commit(ctx context.Context) error {
	if err := t.OpenTx.Commit(ctx); err != nil {
		return err
	}
	t.hub.publish(t.hints...)
	return nil
}
