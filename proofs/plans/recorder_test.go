package plans_test

import (
	"context"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// statement is one that was sent, with the arguments of the first time.
type statement struct {
	text string
	args []any
}

// recorder is a database that writes down what it is sent.
type recorder struct {
	storage.DB
	mu    sync.Mutex
	known map[string]bool
	sent  []statement
}

func (r *recorder) note(text string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known[text] {
		r.known[text] = true
		r.sent = append(r.sent, statement{text, args})
	}
}

// take returns what was sent since it was called last, each statement once.
func (r *recorder) take() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent, r.known = nil, map[string]bool{}
	return sent
}

func (r *recorder) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	r.note(text, args)
	return r.DB.Exec(ctx, text, args...)
}

func (r *recorder) Query(ctx context.Context, text string, args ...any) (storage.Rows, error) {
	r.note(text, args)
	return r.DB.Query(ctx, text, args...)
}

func (r *recorder) Write(ctx context.Context, act storage.Act) error {
	return r.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error { return act(ctx, recordedTx{tx, r}) })
}

type recordedTx struct {
	storage.Tx
	r *recorder
}

func (t recordedTx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	t.r.note(text, args)
	return t.Tx.Exec(ctx, text, args...)
}

func (t recordedTx) Query(ctx context.Context, text string, args ...any) (storage.Rows, error) {
	t.r.note(text, args)
	return t.Tx.Query(ctx, text, args...)
}
