package interop_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// server is one that runs, with fixtures of our own.
type server struct {
	t        *testing.T
	API, App string
	redirect string // of both apps
}

// start starts a server and waits until it is ready; it ends with the test. Webhooks
// go to the URL; "" is for tests that cause none.
func start(t *testing.T, webhook string, flags ...string) *server {
	t.Helper()
	s := &server{t: t, redirect: freeURL(t) + "/callback"}
	if webhook == "" {
		webhook = freeURL(t)
	}
	text, err := os.ReadFile("testdata/fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(fixtures, []byte(strings.NewReplacer("REDIRECT", s.redirect, "WEBHOOK", webhook).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := servertest.Launch(append(flags, "-fixtures", fixtures)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	s.API, s.App = process.API, process.App
	return s
}

// freeURL returns a URL for redirects with a port that no process listens on. A client
// may listen there.
func freeURL(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return "http://" + socket.Addr().String()
}

// dev makes a call of /dev and reads its response into out, which may be nil.
func (s *server) dev(path, body string, out any) error {
	res, err := http.Post(s.API+"/dev/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("/dev/%s: %s", path, res.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
