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

// An act that could not be undone has not ended as it says.
func TestSavepointThatStays(t *testing.T) {
	t.Parallel()
	refusal := errors.New("refused")
	err := storage.Savepoint(t.Context(), stuck{}, func(context.Context, storage.Tx) error { return refusal })
	if !errors.Is(err, errStuck) || errors.Is(err, refusal) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
