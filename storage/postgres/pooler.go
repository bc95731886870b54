package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// server is what Open finds out about the program at the other end.
type server struct {
	// isPooled reports a pooler: it has given the connection a process number that is not the
	// server's.
	isPooled bool
	// sharesNames reports that the pooler hands the names of prepared statements through to the
	// server, so that a statement is missing on the next connection of the server. A pooler
	// that knows prepared statements, such as PgBouncer from 1.21 on, gives them other names.
	sharesNames bool
	// isShared reports that two of our connections had the same connection of the server, one
	// after the other. LISTEN then hears nothing.
	isShared bool
}

// lookWithin is the time limit for finding out about the server.
const lookWithin = 10 * time.Second

// look finds out about the server. It leaves nothing behind on connections of a pooler.
func look(ctx context.Context, db *sql.DB) (s server, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	err = onConn(ctx, db, func(conn *pgx.Conn) error {
		pid, version, err := identify(ctx, conn)
		if err != nil {
			return err
		}
		if err := refuseOther(version); err != nil {
			return err
		}
		if s.isPooled = pid != conn.PgConn().PID(); !s.isPooled {
			return nil
		}
		if s.sharesNames, err = sharesNames(ctx, conn); err != nil {
			return err
		}
		s.isShared = isShared(ctx, conn)
		return nil
	})
	return s, err
}

// lookAtHosts looks at a database of the host. It can only advise: the pool is the host's.
func lookAtHosts(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("postgres: connect to the host's database: %w", plain(err))
	}
	isPgx, mode := false, pgx.QueryExecModeExec
	err = conn.Raw(func(raw any) error {
		if known, ok := raw.(*stdlib.Conn); ok {
			isPgx, mode = true, known.Conn().Config().DefaultQueryExecMode
		}
		return nil
	})
	if err = errors.Join(err, conn.Close()); err != nil || !isPgx {
		return err
	}
	found, err := look(ctx, db)
	if err == nil && found.sharesNames && mode == pgx.QueryExecModeCacheStatement {
		log.WarnContext(ctx, "postgres: there is a pooler before the server, through which prepared statements may fail; open the database with default_query_exec_mode=cache_describe")
	}
	return err
}

// onConn calls do with a connection of pgx.
func onConn(ctx context.Context, db *sql.DB, do func(conn *pgx.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(raw any) error { return do(raw.(*stdlib.Conn).Conn()) })
}

// identify asks the server for its process number and its version, without a prepared
// statement.
func identify(ctx context.Context, conn *pgx.Conn) (pid uint32, version string, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid(), version()", pgx.QueryExecModeExec).Scan(&pid, &version)
	return pid, version, err
}

// sharesNames prepares a statement and looks for its name in the same transaction, which is on
// one connection of the server.
func sharesNames(ctx context.Context, conn *pgx.Conn) (found bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		name := "partnerkit_" + strings.ToLower(rand.Text())
		if _, err := conn.Prepare(ctx, name, "SELECT 1"); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = $1)", pgx.QueryExecModeExec, name).Scan(&found)
		if err != nil {
			return err
		}
		return conn.Deallocate(ctx, name)
	})
	return found, err
}

// sharedTries is how often to look for a shared connection: another client may take it first.
const sharedTries = 5

// isShared reports whether a second connection gets the server's connection of the first.
// False means that it did not happen: a pooler may also hold it, or a busy one may have given
// it to somebody else.
func isShared(ctx context.Context, first *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	second, err := pgx.ConnectConfig(ctx, first.Config())
	if err != nil {
		return false
	}
	defer second.Close(context.WithoutCancel(ctx))
	for range sharedTries {
		one, _, err := identify(ctx, first)
		if err != nil {
			return false
		}
		if other, _, err := identify(ctx, second); err != nil || other == one {
			return err == nil
		}
	}
	return false
}

// refuseOther returns an error for databases that speak PostgreSQL's protocol and lack what
// operations rely on.
func refuseOther(version string) error {
	switch {
	case strings.Contains(version, "CockroachDB"):
		return fmt.Errorf("postgres: the server is CockroachDB, which is not supported: its advisory locks do nothing, so that nodes would migrate at the same time, and it has no LISTEN; use PostgreSQL (%s)", version)
	case strings.Contains(version, "-YB-"):
		return fmt.Errorf("postgres: the server is YugabyteDB, which is not supported: operations rely on PostgreSQL's row locks at READ COMMITTED, on advisory locks and on LISTEN; use PostgreSQL (%s)", version)
	}
	return nil
}
