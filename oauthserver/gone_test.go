package oauthserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// ERR-04, OERR-04: a client that disconnects during any statement is not a server error: the
// response is not a 5xx, and no error is logged.
func TestGoneClient_ERR04(t *testing.T) {
	t.Parallel()
	for database, open := range testdb.Databases {
		for _, s := range scenarios() {
			t.Run("ERR-04 "+s.name+" on "+database, func(t *testing.T) {
				t.Parallel()
				var text bytes.Buffer
				k := newAPIHarnessOn(t, open, func(c *oauthserver.Config) { c.Logger = slog.New(slog.NewTextHandler(&text, nil)) })
				for n, struck := 1, true; struck; n++ {
					k.ip = "192.0.2." + strconv.Itoa(n) // device authorize has a small limit
					path, change, form := s.prepare(k)
					ctx, cancel := k.Store.Tap.Cancellable(t.Context())
					k.Store.Tap.Arm(testdb.FaultCancel, n)
					got := k.postCtx(ctx, path, change, form...)
					struck = k.Store.Tap.Struck()
					cancel()
					k.Store.Tap.Reset()
					// What has begun may finish.
					if got.Status != http.StatusOK && got.text("error_description") != "the connection was closed before the response" {
						t.Errorf("gone at statement %d: %d %s", n, got.Status, got.Body)
					}
				}
				if strings.Contains(text.String(), "level=ERROR") || strings.Contains(text.String(), "level=WARN") {
					t.Errorf("the log says\n%s", &text)
				}
			})
		}
	}
}

// slowStore holds a client's lookup until the request's context ends.
type slowStore struct {
	oauthstore.Store
	asked chan struct{}
}

func (s slowStore) Client(ctx context.Context, _ string) (oauthstore.Client, error) {
	close(s.asked)
	<-ctx.Done()
	return oauthstore.Client{}, fmt.Errorf("find client: %w", ctx.Err())
}

// ERR-04: a client that has closed its side of the connection, and still reads, gets no 5xx.
func TestHalfClosed_ERR04(t *testing.T) {
	t.Parallel()
	slow := slowStore{asked: make(chan struct{})}
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		slow.Store = c.Store
		c.Store = slow
	})
	web := httptest.NewUnstartedServer(k.API)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.Start()
	defer web.Close()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", web.Listener.Addr().String())
	k.Must(err)
	defer conn.Close()
	const body = "grant_type=refresh_token&refresh_token=x&client_id=" + publicID
	_, err = fmt.Fprintf(conn, "POST /oauth/token HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	k.Must(err)
	<-slow.asked
	k.Must(conn.(*net.TCPConn).CloseWrite())
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	k.Must(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", res.StatusCode)
	}
}

// ERR-04: a body that ends before its length is the client's mistake too.
func TestTornBody_ERR04(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	web := httptest.NewServer(k.API)
	defer web.Close()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", web.Listener.Addr().String())
	k.Must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /oauth/token HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant_type=x")
	k.Must(err)
	k.Must(conn.(*net.TCPConn).CloseWrite())
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	k.Must(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", res.StatusCode)
	}
}
