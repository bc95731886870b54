package postgres_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

const idleSetting = "idle_in_transaction_session_timeout"

// The locks of a node that hangs are released after a while. When the node continues, it
// gets an error and has changed nothing.
func TestHangingTransaction(t *testing.T) {
	t.Parallel()
	server, schema := testenv.Postgres(t)
	hanging := openDB(t, server, postgres.Config{MaxConns: 1, IdleTransaction: 300 * time.Millisecond})
	other := openDB(t, server, postgres.Config{MaxConns: 1})
	table := `"` + schema + `".one`
	for _, text := range []string{`CREATE SCHEMA "` + schema + `"`, "CREATE TABLE " + table + " (n BIGINT)", "INSERT INTO " + table + " VALUES (0)"} {
		if _, err := other.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := hanging.BeginTx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE "+table+" SET n = n + 100"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), "UPDATE "+table+" SET n = n + 1"); err != nil { // waits for the lock
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err == nil {
		t.Error("committed what had been ended")
	}
	var n int
	if err := storage.One(t.Context(), hanging, "SELECT n FROM "+table, nil, &n); err != nil || n != 1 {
		t.Errorf("n is %d, %v", n, err)
	}
}

// The default is ten seconds. The host or the URL can change it, and a pooler that rejects
// the setting is used without it.
func TestIdleTransaction(t *testing.T) {
	t.Parallel()
	server, _ := testenv.Postgres(t)
	parsed, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	pooler := url.URL{
		Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password),
		Host: startPicky(t, startPooler(t, parsed)), Path: parsed.Database, RawQuery: "sslmode=disable",
	}
	for name, test := range map[string]struct {
		url  string
		set  time.Duration
		want string
	}{
		"default":     {server, 0, "10s"},
		"by the host": {server, 90 * time.Second, "90s"},
		"the server":  {server, -1, "0"},
		"by the URL":  {withOption(server, idleSetting+"=7s"), time.Minute, "7s"},
		"pooler":      {pooler.String(), 0, "0"},
	} {
		db := openDB(t, test.url, postgres.Config{MaxConns: 1, IdleTransaction: test.set})
		var got string
		if err := storage.One(t.Context(), db, "SHOW "+idleSetting, nil, &got); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// startPicky responds to a connection that begins with the setting as PgBouncer does, and
// passes others on.
func startPicky(t *testing.T, next string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pick(client, next)
		}
	}()
	return listener.Addr().String()
}

func pick(client net.Conn, next string) {
	defer client.Close()
	size := make([]byte, 4)
	if _, err := io.ReadFull(client, size); err != nil {
		return
	}
	first := make([]byte, binary.BigEndian.Uint32(size)-4)
	if _, err := io.ReadFull(client, first); err != nil {
		return
	}
	if strings.Contains(string(first), idleSetting) {
		body := "SFATAL\x00C08P01\x00Munsupported startup parameter: " + idleSetting + "\x00\x00"
		_, _ = client.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(body)+4)), body...))
		return
	}
	server, err := net.Dial("tcp", next)
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = server.Write(append(size, first...))
	go func() { _, _ = io.Copy(server, client) }()
	_, _ = io.Copy(client, server)
}
