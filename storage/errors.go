package storage

import "errors"

// The errors that every [DB] and the store above it return; match them with errors.Is.
// Their texts say what is wrong, the wrapping text names the operation.
var (
	// ErrClosed: the store was used after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrBusy: a write waited too long for its turn. It never ran. Responses
	// that it causes are a 503 (see apierror.Internal).
	ErrBusy error = busyError{}
	// ErrTxDone: a transaction was used after its end.
	ErrTxDone = errors.New("the transaction has ended")
	// ErrInUse: another process has the SQLite file open.
	ErrInUse = errors.New("the database file belongs to another process")
	// ErrNewerSchema: newer code migrated the database in a way that this code
	// cannot work with.
	ErrNewerSchema = errors.New("the database needs newer code")
	// ErrNoTable: a statement names a table that does not exist.
	ErrNoTable = errors.New("the table does not exist")
	// ErrOlderSchema: the database lacks migrations, and the store may not apply them.
	ErrOlderSchema = errors.New("the database lacks migrations")
	// ErrReadOnly: the database cannot be written.
	ErrReadOnly = errors.New("the database is read-only")
	// ErrFull: the disk, or what the database may use of it, is full.
	ErrFull = errors.New("the database or its disk is full")
	// ErrNoListen: the database cannot receive announcements of other processes.
	ErrNoListen = errors.New("no announcements on this database")
	// ErrUndone: the operation ended well, and then a statement that it had left for [Later]
	// failed. Nothing of it happened.
	ErrUndone = errors.New("the operation was rolled back")
	// ErrNoRows: [One] found nothing.
	ErrNoRows = errors.New("no rows")
)

type busyError struct{}

func (busyError) Error() string { return "the database is busy" }

func (busyError) IsTemporary() bool { return true }
