package racetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
)

// Opener creates an empty database that is removed when t ends.
type Opener func(t testing.TB) Database

// Database is an empty database to explore.
type Database struct {
	// Connect opens the database once more, as another node would, with a single connection
	// that may stay in a transaction for as long as needed. The connection is closed when t
	// ends. A database of one process is opened once.
	Connect func(t testing.TB) storage.DB
	// Crash opens a copy of the database as it would be left if the process died at this
	// moment. The caller closes the copy. Crash is used for databases of one process only; if
	// it is nil, crashes are not tested.
	Crash func(ctx context.Context) (storage.DB, error)
}
