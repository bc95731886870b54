package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// stuck is a transaction that cannot go back.
type stuck struct{ storage.Tx }

var errStuck = errors.New("connection lost")

func (stuck) Exec(_ context.Context, query string, _ ...any) (int64, error) {
	if strings.HasPrefix(query, "ROLLBACK TO") {
		return 0, errStuck
	}
	return 0, nil
}

// An operation that could not be undone has not ended as it says.
func TestSavepointThatStays(t *testing.T) {
	t.Parallel()
	refusal := errors.New("refused")
	err := storage.Savepoint(t.Context(), stuck{}, func(context.Context, storage.Tx) error { return refusal })
	if !errors.Is(err, errStuck) || errors.Is(err, refusal) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

// unreleased is a transaction in which a savepoint cannot be released once.
type unreleased struct {
	storage.Tx
	sent []string
}

func (u *unreleased) Exec(_ context.Context, query string, _ ...any) (int64, error) {
	u.sent = append(u.sent, query)
	if strings.HasPrefix(query, "RELEASE") && len(u.sent) == 2 {
		return 0, errStuck
	}
	return 0, nil
}

// An operation whose savepoint cannot be released has failed, and is undone.
func TestSavepointThatIsNotReleased(t *testing.T) {
	t.Parallel()
	tx := &unreleased{}
	err := storage.Savepoint(t.Context(), tx, func(context.Context, storage.Tx) error { return nil })
	if !errors.Is(err, errStuck) || len(tx.sent) != 4 || !strings.HasPrefix(tx.sent[2], "ROLLBACK TO") {
		t.Errorf("%v after %q", err, tx.sent)
	}
}

// When a request ends during an operation, its error says so.
func TestSavepointOfCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := storage.Savepoint(ctx, stuck{}, func(context.Context, storage.Tx) error {
		cancel()
		return errors.New("refused")
	})
	if !errors.Is(err, errStuck) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
