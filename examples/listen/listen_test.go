package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// lines hands over what is written, line by line.
type lines struct {
	mu   sync.Mutex
	rest []byte
	out  chan string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.out <- string(line)
		l.rest = rest
	}
}

func (l *lines) want(t *testing.T, pattern string) {
	t.Helper()
	select {
	case line := <-l.out:
		if !regexp.MustCompile(pattern).MatchString(line) {
			t.Errorf("it says %q, want %s", line, pattern)
		}
	case <-time.After(time.Minute):
		t.Fatalf("it does not say %s", pattern)
	}
}

// Both forms of the command run side by side until they are stopped.
func TestListenAndTrigger(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, "")
	ctx, stop := context.WithCancel(t.Context())
	said, ended := &lines{out: make(chan string, 10)}, make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-api", server.API, "-events", "app.scopes_updated"}, said, io.Discard)
	}()
	said.want(t, `^Listening at http://127\.0\.0\.1:\d+/, signed with whsec_`)

	var response bytes.Buffer
	if err := run(t.Context(), []string{"trigger", "-api", server.API, "app.scopes_updated"}, &response, io.Discard); err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`^app.scopes_updated happened in biz_bakery: (evt_\w+)\.`).FindStringSubmatch(response.String())
	if id == nil {
		t.Fatal(response.String())
	}
	said.want(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  app\.scopes_updated +`+id[1]+`  biz_bakery  dlv_\w+  answered 204  \{.*\}$`)
	stop()
	said.want(t, "^Removed the webhook\\.$")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-nothing"}, {"invoice.paid"}, {"trigger"}, {"trigger", "a", "b"}, {"trigger", "-forward", "x", "a"},
		{"-app-id", "a", "-client-id", "b"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
	var help strings.Builder
	if err := run(t.Context(), []string{"trigger", "-help"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-business") {
		t.Errorf("%v\n%s", err, &help)
	}
}

// Data is the partner's customers' to choose.
func TestPrintable(t *testing.T) {
	t.Parallel()
	if got := printable("a\x1b[2J\u202eb\xff€"); got != "a�[2J�b�€" {
		t.Errorf("%q", got)
	}
}
