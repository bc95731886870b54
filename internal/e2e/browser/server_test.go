package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// program builds the reference server, once.
var program = sync.OnceValues(func() (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	file, err := os.CreateTemp("", "partnerkit-server-*")
	if err != nil {
		return "", err
	}
	_ = file.Close()
	build := exec.CommandContext(ctx, "go", "build", "-o", file.Name(), "./examples/server")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		_ = os.Remove(file.Name())
		return "", errors.New(string(out))
	}
	return file.Name(), nil
})

// service is a reference server that runs.
type service struct {
	t        *testing.T
	API, App string // public URLs
	partner  *partner
}

// serve starts a server with the data of testdata, whose apps live at a partner. Pairs
// of names say what is called otherwise.
func serve(t *testing.T, names ...string) *service {
	t.Helper()
	_, err := chromiumPath()
	lacking(t, "needs Chromium, which Debian has as chromium", err)
	path, err := program()
	if err != nil {
		t.Fatalf("build the server: %v", err)
	}
	p := newPartner(t)
	text, err := os.ReadFile(filepath.Join("testdata", "fixtures.json"))
	if err != nil {
		t.Fatal(err)
	}
	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	text = bytes.ReplaceAll(text, []byte("PARTNER"), []byte(p.origin))
	for pair := range slices.Chunk(names, 2) {
		old, err := json.Marshal(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		name, err := json.Marshal(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, old, name)
	}
	if err := os.WriteFile(fixtures, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(ctx, path, "-api", "localhost:0", "-app", "localhost:0", "-fixtures", fixtures,
		"-db", filepath.Join(t.TempDir(), "partnerkit.db"))
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = patience
	var log lockedBuffer
	run.Stderr = &log
	stdout, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Cancel()
		if err := run.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if text := log.String(); t.Failed() || strings.Contains(text, "level=ERROR") {
			t.Errorf("the server said:\n%s", text)
		}
	})
	s := &service{t: t, partner: p}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		t.Fatalf("the server is not ready: %v", err)
	}
	return s
}

// dev asks the API host's /dev for something.
func (s *service) dev(path string, in, out any) {
	s.t.Helper()
	s.call(request{method: "POST", path: "/dev" + path, body: in}, out)
}

// enter signs a person in without the page that does it.
func (s *service) enter(b *tab, user, business string) *tab {
	s.t.Helper()
	name, value, _ := strings.Cut(s.session(user, business), "=")
	cookie := network.SetCookieParams{Name: name, Value: value, URL: s.App, SameSite: network.CookieSameSiteLax}
	if _, err := chromedp.Call(b.ctx, network.SetCookie, cookie); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// session is the cookie of somebody who is signed in.
func (s *service) session(user, business string) string {
	s.t.Helper()
	var out struct{ Cookie string }
	s.dev("/sessions", map[string]string{"userId": user, "businessId": business}, &out)
	return out.Cookie
}

// request is one to the API host: with a token, a cookie, or a client's secret.
type request struct {
	method, path  string
	token, cookie string
	body          any        // JSON
	form          url.Values // instead of body
}

// call expects an answer of 2xx.
func (s *service) call(r request, out any) {
	s.t.Helper()
	if status, answer := s.send(r); status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", r.method, r.path, status, answer)
	} else if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			s.t.Fatal(err)
		}
	}
}

// send returns what the API host answers.
func (s *service) send(r request) (status int, answer []byte) {
	s.t.Helper()
	var body io.Reader
	contentType := "application/json"
	switch {
	case r.form != nil:
		body, contentType = strings.NewReader(r.form.Encode()), "application/x-www-form-urlencoded"
	case r.body != nil:
		text, err := json.Marshal(r.body)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, r.method, s.API+r.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		q.Header.Set("Content-Type", contentType)
	}
	if r.token != "" {
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.cookie != "" {
		q.Header.Set("Cookie", r.cookie)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	if answer, err = io.ReadAll(a.Body); err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, answer
}

// eventually asks again and again.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// lockedBuffer is what a process writes while somebody may read it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
