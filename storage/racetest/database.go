package racetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// Opener makes an empty database that is removed when t ends.
type Opener func(t testing.TB) Database

// Database is an empty database to explore.
type Database struct {
	// Connect opens it once more, as one more node would, with a single
	// connection that may stay in a transaction for as long as it takes; it is
	// closed when t ends. A database of one process is opened once.
	Connect func(t testing.TB) storage.DB
	// Crash opens a copy of what would be left if the process died at this moment;
	// the caller closes it. It is asked of databases of one process; nil: crashes
	// are not tried.
	Crash func(ctx context.Context) (storage.DB, error)
}
