package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/partnerkit/partnerkit/storage"
)

// SQLSTATE codes, PostgreSQL documentation, appendix A.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	readOnlyTransaction  = "25006"
	diskFull             = "53100"
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03"
	protocolViolation    = "08P01"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
)

// sqlState returns the code of a server's error; pgx and lib/pq both have it.
func sqlState(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

// repeatable tells an operation that lost against another: the server has undone it.
func repeatable(err error) bool {
	state := sqlState(err)
	return state == serializationFailure || state == deadlockDetected
}

// isFailover tells an error of a server that has become read-only or shuts down.
func isFailover(err error) bool {
	switch sqlState(err) {
	case readOnlyTransaction, adminShutdown, crashShutdown, cannotConnectNow:
		return true
	}
	return false
}

// explain adds the error of storage that a server's error amounts to.
func explain(err error) error {
	switch sqlState(err) {
	case readOnlyTransaction:
		return fmt.Errorf("%w: %w", storage.ErrReadOnly, err)
	case diskFull:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case undefinedTable:
		return fmt.Errorf("%w: %w", storage.ErrNoTable, err)
	case lockNotAvailable:
		return fmt.Errorf("%w: %w", storage.ErrBusy, err)
	}
	return err
}

// refusesSetting reports whether a pooler rejected a setting in the startup message of a
// connection.
func refusesSetting(err error) bool { return sqlState(err) == protocolViolation }

// plain reduces an error of connecting to what the server or the network said;
// pgx puts the whole address and user around it.
func plain(err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return serverError{server}
	}
	return err
}

// serverError is an error of the server with its code.
type serverError struct{ *pgconn.PgError }

func (e serverError) Error() string { return fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code) }
