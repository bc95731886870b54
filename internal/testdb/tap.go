package testdb

import (
	"context"
	"errors"
	"sync"

	"github.com/partnerkit/partnerkit/storage"
)

// ErrInjected is the fault that a [Tap] makes.
var ErrInjected = errors.New("testdb: injected fault")

// Fault is an injected failure of a statement.
type Fault string

const (
	// FaultError fails the statement, which does not reach the database.
	FaultError Fault = "error"
	// FaultCancel cancels the caller's context just before the statement. It
	// needs a context of [Tap.Cancellable].
	FaultCancel Fault = "cancel"
	// FaultLostCommit commits and then reports a failure: the response was lost.
	// It counts commits, not statements.
	FaultLostCommit Fault = "lost commit"
	// faultOvertaken does something else just before the statement.
	faultOvertaken Fault = "overtaken"
)

// Tap is a [storage.DB] that counts what passes and, when armed, makes one
// statement fail. It is safe for concurrent use.
type Tap struct {
	storage.DB

	mu         sync.Mutex
	statements int
	commits    int
	fault      Fault
	at         int // the fault strikes when this many more have passed
	struck     bool
	cancel     context.CancelFunc
	overtake   func()
}

// NewTap puts a tap before a database.
func NewTap(db storage.DB) *Tap { return &Tap{DB: db} }

// Reset sets the counts to zero and disarms the tap.
func (t *Tap) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.statements, t.commits, t.fault, t.struck = 0, 0, "", false
}

// Counts returns how many statements and commits have passed since Reset.
func (t *Tap) Counts() (statements, commits int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.statements, t.commits
}

// Arm resets the tap and makes the n-th statement, or commit, from here fail
// once; the first is 1.
func (t *Tap) Arm(fault Fault, n int) {
	t.Reset()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault, t.at = fault, n
}

// Overtake resets the tap and calls overtake just before the n-th statement from here; the
// first is 1.
func (t *Tap) Overtake(n int, overtake func()) {
	t.Arm(faultOvertaken, n)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overtake = overtake
}

// Struck reports whether the fault has happened.
func (t *Tap) Struck() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.struck
}

// Cancellable returns the context that [FaultCancel] cancels.
func (t *Tap) Cancellable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancel = cancel
	return ctx, cancel
}

// statement counts one and strikes when its turn has come.
func (t *Tap) statement() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.statements++
	if t.struck || t.statements != t.at {
		return nil
	}
	switch t.fault {
	case faultOvertaken:
		t.struck = true
		t.mu.Unlock() // overtake has statements of its own
		t.overtake()
		t.mu.Lock()
	case FaultError:
		t.struck = true
		return ErrInjected
	case FaultCancel:
		t.struck = true
		t.cancel()
	}
	return nil
}

// commit counts one and reports whether its response is lost.
func (t *Tap) commit() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.commits++
	if t.fault == FaultLostCommit && !t.struck && t.commits == t.at {
		t.struck = true
		return ErrInjected
	}
	return nil
}

// Write implements [storage.DB].
func (t *Tap) Write(ctx context.Context, act storage.Operation) error {
	err := t.DB.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
		return act(ctx, tapTx{tx, t})
	})
	if err != nil {
		return err
	}
	return t.commit()
}

// Exec implements [storage.DB].
func (t *Tap) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.statement(); err != nil {
		return 0, err
	}
	n, err := t.DB.Exec(ctx, query, args...)
	if err != nil {
		return n, err
	}
	return n, t.commit()
}

// Query implements [storage.DB].
func (t *Tap) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if err := t.statement(); err != nil {
		return nil, err
	}
	return t.DB.Query(ctx, query, args...)
}

// BeginTx implements [storage.DB].
func (t *Tap) BeginTx(ctx context.Context) (storage.OpenTx, error) {
	tx, err := t.DB.BeginTx(ctx)
	if err != nil {
		return nil, err
	}
	return tapOpenTx{tapTx{tx, t}, tx}, nil
}

type tapTx struct {
	on  storage.Tx
	tap *Tap
}

func (x tapTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := x.tap.statement(); err != nil {
		return 0, err
	}
	return x.on.Exec(ctx, query, args...)
}

func (x tapTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if err := x.tap.statement(); err != nil {
		return nil, err
	}
	return x.on.Query(ctx, query, args...)
}

type tapOpenTx struct {
	tapTx
	tx storage.OpenTx
}

func (x tapOpenTx) Commit(ctx context.Context) error {
	if err := x.tx.Commit(ctx); err != nil {
		return err
	}
	return x.tap.commit()
}

func (x tapOpenTx) Rollback() error { return x.tx.Rollback() }
