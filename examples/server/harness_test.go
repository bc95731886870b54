package main

import (
	"bufio"
	"context"
	_ "embed" // for the demo
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/logtest"
)

// demo is the fixtures that are embedded.
//
//go:embed fixtures/demo.json
var demo string

// runAsServer is the variable that makes the test binary the server itself, for
// tests that need a process.
const runAsServer = "PARTNERKIT_TEST_RUN_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsServer) != "" || len(os.Args) == 2 && os.Args[1] == "check-function" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func noEnv(string) string { return "" }

// developmentKey is a key for servers outside development mode.
const developmentKey = "cGFydG5lcmtpdCBkZXZlbG9wbWVudCBrZXkgMDAwMDE="

// harness is a running server.
type harness struct {
	t        *testing.T
	api, app string
	metrics  string          // empty: not served
	stdout   *logtest.Buffer // after the ready line
	stderr   *logtest.Buffer
	stop     func() error
}

// start runs the server on ports of its own. args override what it needs for
// that. Without args its database is a copy of one with the demo.
func start(t *testing.T, args ...string) *harness {
	t.Helper()
	if len(args) == 0 {
		args = []string{"-db", demoDatabase(t)}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	out, in := io.Pipe()
	r := &harness{t: t, stdout: &logtest.Buffer{}, stderr: &logtest.Buffer{}}
	ended := make(chan error, 1)
	go func() {
		err := newProgram().Run(ctx, append([]string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}, args...), noEnv, in, r.stderr)
		in.CloseWithError(io.EOF)
		ended <- err
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-ended
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("server: %v", err)
		}
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", r.stop(), r.stderr)
	}
	go func() { _, _ = io.Copy(r.stdout, lines) }()
	var ready struct {
		Ready    bool
		API, App string
		Metrics  string
	}
	if err := json.Unmarshal(line, &ready); err != nil || !ready.Ready {
		t.Fatalf("ready line %s: %v", line, err)
	}
	r.api, r.app, r.metrics = ready.API, ready.App, ready.Metrics
	return r
}

// demoDatabase copies a database that a server has filled with the demo. Filling one takes
// three times as long as most tests, since it hashes the passwords.
func demoDatabase(t *testing.T) string {
	t.Helper()
	demoFile.Do(func() {
		path := filepath.Join(t.TempDir(), "demo.db")
		if err := start(t, "-db", path).stop(); err != nil {
			t.Fatal(err)
		}
		var err error
		if demoData, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	})
	return file(t, "demo.db", string(demoData))
}

// demoFile guards demoData, the file of a database with the demo.
var (
	demoFile sync.Once
	demoData []byte
)

// fails runs a server that must not start, and returns why.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr logtest.Buffer
	err := newProgram().Run(ctx, append([]string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}, args...), noEnv,
		stopWriter{&stdout, cancel}, &stderr)
	if err == nil {
		t.Fatalf("%v: it started", args)
	}
	if stdout.String() != "" {
		t.Errorf("%v: standard output %q", args, &stdout)
	}
	return err.Error()
}

// stopWriter stops a server that wrongly started.
type stopWriter struct {
	io.Writer
	stop func()
}

func (w stopWriter) Write(p []byte) (int, error) {
	w.stop()
	return w.Writer.Write(p)
}

// browser keeps cookies and follows no redirect.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// response is a response with its body read.
type response struct {
	*http.Response
	body string
}

func (a response) json(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%d %s: %v", a.StatusCode, a.body, err)
	}
	return out
}

func (a response) want(t *testing.T, status int) response {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s = %d, want %d\n%s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.body)
	}
	return a
}

func do(t *testing.T, client *http.Client, r *http.Request) response {
	t.Helper()
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res, string(body)}
}

func request(t *testing.T, method, url, contentType, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func get(t *testing.T, client *http.Client, url string) response {
	t.Helper()
	return do(t, client, request(t, http.MethodGet, url, "", ""))
}

func post(t *testing.T, client *http.Client, url string, form url.Values) response {
	t.Helper()
	return do(t, client, request(t, http.MethodPost, url, "application/x-www-form-urlencoded", form.Encode()))
}

// dev makes a call of /dev.
func (r *harness) dev(path, body string) response {
	r.t.Helper()
	return do(r.t, http.DefaultClient, request(r.t, http.MethodPost, r.api+"/dev/"+path, "application/json", body))
}

// signIn returns a browser that is signed in.
func (r *harness) signIn(email, password string) *http.Client {
	r.t.Helper()
	b := browser(r.t)
	post(r.t, b, r.app+"/login", url.Values{"email": {email}, "password": {password}}).want(r.t, http.StatusSeeOther)
	return b
}

// session is signIn without a password.
func (r *harness) session(userID, businessID string) *http.Client {
	r.t.Helper()
	b := browser(r.t)
	do(r.t, b, request(r.t, http.MethodPost, r.api+"/dev/sessions", "application/json",
		`{"userId": "`+userID+`", "businessId": "`+businessID+`"}`)).want(r.t, http.StatusOK)
	return b
}

// form is the hidden fields of a page.
func (a response) form() url.Values { return servertest.Form(a.body) }

// file writes a file of the test's own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
