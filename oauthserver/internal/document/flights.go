package document

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
)

// flights are fetches in progress, each of which any number of callers wait for. The zero value
// has none. It is safe for concurrent use.
type flights[T any] struct {
	mu    sync.Mutex
	byKey map[string]*flight[T]
}

// A flight is one fetch.
type flight[T any] struct {
	done   chan struct{} // closed when the fields below are set
	result T
	err    error
}

// join returns the result of the fetch under a key, and starts the fetch if there is none. A
// fetch continues if the caller that started it leaves: others may wait for it.
func (f *flights[T]) join(ctx context.Context, key string, fetch func(context.Context) (T, error)) (T, error) {
	for {
		one, first := f.board(ctx, key, fetch)
		select {
		case <-one.done:
		case <-ctx.Done():
			var none T
			return none, failure.Wrap("wait for a fetch", ctx.Err())
		}
		// The earlier caller had no budget left. This one may have.
		if !first && errors.Is(one.err, ErrCallerBudget) {
			continue
		}
		return one.result, one.err
	}
}

func (f *flights[T]) board(ctx context.Context, key string, fetch func(context.Context) (T, error)) (one *flight[T], first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.byKey[key]; one != nil {
		return one, false
	}
	if f.byKey == nil {
		f.byKey = make(map[string]*flight[T])
	}
	one = &flight[T]{done: make(chan struct{})}
	f.byKey[key] = one
	go func() {
		defer func() {
			// No HTTP server recovers a panic of this goroutine.
			if p := recover(); p != nil {
				one.err = fmt.Errorf("%w: fetch for a client: %w", failure.Err, apierror.Panicked(p))
			}
			f.mu.Lock()
			delete(f.byKey, key)
			f.mu.Unlock()
			close(one.done)
		}()
		one.result, one.err = fetch(context.WithoutCancel(ctx))
	}()
	return one, true
}
