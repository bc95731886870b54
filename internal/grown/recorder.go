package grown

import (
	"context"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// Statement is one that was sent, with the arguments of the first time.
type Statement struct {
	Text  string
	Args  []any
	Times int
}

// Recorder is a database that writes down what it is sent. It is safe for concurrent use.
type Recorder struct {
	storage.DB
	mu    sync.Mutex
	known map[string]int // where in sent
	sent  []Statement
}

// Recording returns a wrap that puts a recorder there.
func Recording(to **Recorder) Wrap {
	return func(db storage.DB) storage.DB {
		*to = &Recorder{DB: db, known: map[string]int{}}
		return *to
	}
}

func (r *Recorder) note(text string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.known[text]
	if !ok {
		at = len(r.sent)
		r.known[text] = at
		r.sent = append(r.sent, Statement{Text: text, Args: args})
	}
	r.sent[at].Times++
}

// Take returns what was sent since it was called last, each statement once.
func (r *Recorder) Take() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent, r.known = nil, map[string]int{}
	return sent
}

// Exec implements storage.DB.
func (r *Recorder) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	r.note(text, args)
	return r.DB.Exec(ctx, text, args...)
}

// Query implements storage.DB.
func (r *Recorder) Query(ctx context.Context, text string, args ...any) (storage.Rows, error) {
	r.note(text, args)
	return r.DB.Query(ctx, text, args...)
}

// Write implements storage.DB.
func (r *Recorder) Write(ctx context.Context, act storage.Operation) error {
	return r.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error { return act(ctx, recordedTx{tx, r}) })
}

type recordedTx struct {
	storage.Tx
	r *Recorder
}

func (t recordedTx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	t.r.note(text, args)
	return t.Tx.Exec(ctx, text, args...)
}

func (t recordedTx) Query(ctx context.Context, text string, args ...any) (storage.Rows, error) {
	t.r.note(text, args)
	return t.Tx.Query(ctx, text, args...)
}
