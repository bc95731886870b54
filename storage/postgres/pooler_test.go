package postgres_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// Behind a pooler that swallows notifications Listen notices and says so.
func TestNoListenBehindAPooler(t *testing.T) {
	t.Parallel()
	direct, schema := testenv.Postgres(t)
	parsed, err := pgx.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password),
		Host: startPooler(t, parsed), Path: parsed.Database, RawQuery: "sslmode=disable",
	}
	db := openDB(t, through.String(), postgres.Config{Schema: schema, MaxConns: 2})
	err = db.Listen(t.Context(), func(string) {})
	if !errors.Is(err, storage.ErrNoListen) || !strings.Contains(err.Error(), "pooler") {
		t.Errorf("listen: %v", err)
	}
}

// startPooler passes everything on but the server's notifications.
func startPooler(t *testing.T, to *pgx.ConnConfig) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	server := net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				return
			}
			wg.Go(func() {
				_, _ = io.Copy(upstream, client)
				_ = upstream.Close()
			})
			wg.Go(func() {
				_ = withoutNotifications(client, upstream)
				_ = client.Close()
			})
		}
	})
	return listener.Addr().String()
}

// withoutNotifications copies the server's messages, each a type, a length that
// counts itself, and a body.
func withoutNotifications(to io.Writer, from io.Reader) error {
	messages := bufio.NewReader(from)
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(messages, head); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(messages, body); err != nil {
			return err
		}
		if head[0] == 'A' { // NotificationResponse
			continue
		}
		if _, err := to.Write(append(head, body...)); err != nil {
			return err
		}
	}
}
