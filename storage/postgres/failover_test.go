package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// OPER-02: a connection whose server has become read-only is not used again.
func TestReadOnlyServer_OPER02(t *testing.T) {
	t.Parallel()
	server, schema := testenv.Postgres(t)
	create := `CREATE TABLE "` + schema + `".one (n BIGINT)`
	for name, write := range map[string]func(db *postgres.DB) error{
		"a statement": func(db *postgres.DB) error {
			_, err := db.Exec(t.Context(), create)
			return err
		},
		"an operation": func(db *postgres.DB) error {
			return db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
				_, err := tx.Exec(ctx, create)
				return err
			})
		},
		"a transaction of the host": func(db *postgres.DB) error {
			tx, err := db.BeginTx(t.Context())
			if err != nil {
				return err
			}
			_, err = tx.Exec(t.Context(), create)
			return errors.Join(err, tx.Rollback())
		},
	} {
		db := openDB(t, server, postgres.Config{MaxConns: 1})
		if _, err := db.Exec(t.Context(), `CREATE SCHEMA IF NOT EXISTS "`+schema+`"`); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), "SET default_transaction_read_only = on"); err != nil {
			t.Fatal(err)
		}
		if err := write(db); !errors.Is(err, storage.ErrReadOnly) {
			t.Errorf("%s on a read-only server: %v", name, err)
		}
		if _, err := db.Exec(t.Context(), `CREATE TABLE "`+schema+`".two (n BIGINT)`); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
		if _, err := db.Exec(t.Context(), `DROP TABLE "`+schema+`".two`); err != nil {
			t.Error(err)
		}
	}
}

// OPER-02: of several hosts the one that takes writes is used.
func TestSeveralHosts_OPER02(t *testing.T) {
	t.Parallel()
	server, _ := testenv.Postgres(t)
	parsed, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	_ = closed.Close()
	to := url.URL{
		Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password), Path: parsed.Database, RawQuery: "sslmode=disable",
		Host: nobody + "," + net.JoinHostPort(parsed.Host, strconv.Itoa(int(parsed.Port))),
	}
	db := openDB(t, to.String(), postgres.Config{MaxConns: 1})
	var n int
	if err := storage.One(t.Context(), db, "SELECT 1", nil, &n); err != nil {
		t.Error(err)
	}
	// With default_transaction_read_only each host looks like a standby.
	_, err = postgres.OpenDB(t.Context(), withOption(to.String(), "default_transaction_read_only=on"), postgres.Config{MaxConns: 1})
	if err == nil {
		t.Error("took a host that takes no writes")
	}
}

// OPER-02: Listen notices a server that is gone without having closed the connection.
func TestHalfOpenConnection_OPER02(t *testing.T) {
	t.Parallel()
	server, _ := testenv.Postgres(t)
	parsed, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	forwarder := testenv.StartForwarder(t, "tcp", net.JoinHostPort(parsed.Host, strconv.Itoa(int(parsed.Port))))
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password), Path: parsed.Database, RawQuery: "sslmode=disable",
		Host: forwarder.Address(),
	}
	db := openDB(t, through.String(), postgres.Config{MaxConns: 2})
	listens, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() { ended <- db.Listen(t.Context(), func(string) { listens <- struct{}{} }) }()
	select {
	case <-listens:
	case err := <-ended:
		t.Fatal(err)
	}
	forwarder.Freeze()
	if err := <-ended; err == nil || errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrNoListen) {
		t.Errorf("Listen on a dead connection: %v", err)
	}
}
