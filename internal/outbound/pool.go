package outbound

import (
	"container/list"
	"sync"
	"time"
)

// pool keeps connections for later requests, by scheme, host and port. The one that
// was used last is used first. A timer closes those that nobody wants; there is no
// goroutine.
type pool struct {
	max, maxPerHost int

	mu     sync.Mutex
	byHost map[string][]*list.Element // the last used one last
	order  list.List                  // of *link, the longest idle one first
	sweeps bool                       // the timer runs
}

// get returns a connection that is still good, or nil.
func (p *pool) get(key string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		kept := p.byHost[key]
		if len(kept) == 0 {
			return nil
		}
		l := p.take(kept[len(kept)-1])
		if time.Since(l.idleSince) < idleTimeout && isQuiet(l.conn) {
			l.isReused = true
			return l
		}
		l.close()
	}
}

// put keeps a connection, or closes it, or one that has waited for longer.
func (p *pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byHost[l.key]) >= p.maxPerHost {
		l.close()
		return
	}
	l.idleSince = time.Now()
	if p.byHost == nil {
		p.byHost = map[string][]*list.Element{}
	}
	p.byHost[l.key] = append(p.byHost[l.key], p.order.PushBack(l))
	if p.order.Len() > p.max {
		p.take(p.order.Front()).close()
	}
	if !p.sweeps {
		p.sweeps = true
		time.AfterFunc(idleTimeout, p.sweep)
	}
}

// take removes a connection.
func (p *pool) take(e *list.Element) *link {
	l := p.order.Remove(e).(*link)
	kept := p.byHost[l.key]
	for i := range kept {
		if kept[i] == e {
			kept = append(kept[:i], kept[i+1:]...)
			break
		}
	}
	if p.byHost[l.key] = kept; len(kept) == 0 {
		delete(p.byHost, l.key)
	}
	return l
}

// sweep closes what has been idle for too long.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; e = p.order.Front() {
		rest := idleTimeout - time.Since(e.Value.(*link).idleSince)
		if rest > 0 {
			time.AfterFunc(rest, p.sweep)
			return
		}
		p.take(e).close()
	}
	p.sweeps = false
}

// closeAll closes what is idle.
func (p *pool) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; e = p.order.Front() {
		p.take(e).close()
	}
}
