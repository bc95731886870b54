package redislimit

import (
	"sync/atomic"
	"time"
)

const (
	failuresToPause = 3
	pause           = time.Second
)

// breaker leaves a failing Redis alone for a moment, in real time.
type breaker struct {
	start    time.Time // for readings of the monotonic clock
	failures atomic.Int64
	askAt    atomic.Int64 // since start; zero while Redis responds
}

func newBreaker() *breaker {
	return &breaker{start: time.Now()}
}

// mayAsk returns true while Redis responds, and for one caller at the end of a pause.
// That caller begins the next pause; its success ends it.
func (b *breaker) mayAsk() bool {
	at := b.askAt.Load()
	if at == 0 {
		return true
	}
	now := time.Since(b.start)
	return now >= time.Duration(at) && b.askAt.CompareAndSwap(at, int64(now+pause))
}

// isPaused reports whether mayAsk would return false. It does not take the turn to ask.
func (b *breaker) isPaused() bool {
	at := b.askAt.Load()
	return at != 0 && time.Since(b.start) < time.Duration(at)
}

func (b *breaker) succeeded() {
	if b.failures.Load() != 0 || b.askAt.Load() != 0 {
		b.failures.Store(0)
		b.askAt.Store(0)
	}
}

func (b *breaker) failed() {
	if b.failures.Add(1) >= failuresToPause {
		b.askAt.Store(int64(time.Since(b.start) + pause))
	}
}
