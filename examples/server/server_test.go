package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	t.Parallel()
	r := start(t, "-metrics", "localhost:0")
	for _, host := range []string{r.api, r.app} {
		get(t, http.DefaultClient, host+"/healthz").want(t, http.StatusOK)
		get(t, http.DefaultClient, host+"/readyz").want(t, http.StatusOK)
	}
	if body := get(t, http.DefaultClient, r.metrics).want(t, http.StatusOK).body; !strings.Contains(body, `partnerkit_http_requests_total{code="200",host="app",method="get"} 2`) {
		t.Errorf("metrics do not count:\n%s", body)
	}
	monitoring := strings.TrimSuffix(r.metrics, "/metrics")
	get(t, http.DefaultClient, monitoring+"/profile").want(t, http.StatusNotFound)
	do(t, http.DefaultClient, request(t, http.MethodPost, r.metrics, "", "")).want(t, http.StatusMethodNotAllowed)
	get(t, http.DefaultClient, r.api+"/metrics").want(t, http.StatusUnauthorized) // API-04
	get(t, http.DefaultClient, r.app+"/metrics").want(t, http.StatusNotFound)
	for _, want := range []string{r.api, r.app, r.metrics, "ada@example.com", "demo-ada", "ledgerlink-sync", "demo-secret-ledgerlink-sync", "curl "} {
		if !strings.Contains(r.stderr.String(), want) {
			t.Errorf("the greeting lacks %q:\n%s", want, r.stderr)
		}
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if r.stdout.String() != "" {
		t.Errorf("more than the ready line on standard output: %q", r.stdout)
	}
}

// Clients can resolve localhost to 127.0.0.1 or ::1.
func TestLocalhostIsBothFamilies(t *testing.T) {
	t.Parallel()
	r := start(t)
	u, err := url.Parse(r.api)
	if err != nil {
		t.Fatal(err)
	}
	if u.Hostname() != "localhost" {
		t.Errorf("api %s", r.api)
	}
	get(t, http.DefaultClient, "http://127.0.0.1:"+u.Port()+"/healthz").want(t, http.StatusOK)
	if probe, err := net.Listen("tcp", "[::1]:0"); err == nil {
		probe.Close()
		get(t, http.DefaultClient, "http://[::1]:"+u.Port()+"/healthz").want(t, http.StatusOK)
	}
}

// Without -metrics no address serves metrics, and the ready line has two addresses.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	r := start(t)
	if r.metrics != "" || strings.Contains(r.stderr.String(), "metrics") {
		t.Errorf("metrics at %q:\n%s", r.metrics, r.stderr)
	}
	if reason := fails(t, "-metrics", "nowhere"); !strings.Contains(reason, "-metrics") {
		t.Error(reason)
	}
}

// API-04: undeclared paths, including those below /oauth/ and /.well-known/, and paths that
// respond to all clients alike.
func TestUndeclaredPaths_API04(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.session("usr_ada", "biz_bakery")
	token := r.connect(b, "biz_bakery", "profile:read")["access_token"].(string)
	for _, call := range []string{
		"GET /oauth/unknown", "POST /oauth/unknown", "GET /oauth", "GET /oauth/", "POST /oauth/token/", "GET /oauth/token/x", "GET /oauth/authorize",
		"GET /.well-known/unknown", "GET /.well-known/", "GET /.well-known/openid-configuration", "GET /metrics", "GET /nothing", "PUT /profile",
		"DELETE /invoices", "GET /healthz/x",
	} {
		method, path, _ := strings.Cut(call, " ")
		if a := r.call(method, path, token).want(t, http.StatusForbidden); a.json(t)["code"] != "ENDPOINT_NOT_EXPOSED" || a.Header.Get("RateLimit-Limit") == "" {
			t.Errorf("%s: %s", call, a.body)
		}
		r.call(method, path, "pk_at_unknown").want(t, http.StatusUnauthorized)
		do(t, http.DefaultClient, request(t, method, r.api+path, "", "")).want(t, http.StatusUnauthorized)
		a := do(t, b, request(t, method, r.api+path, "", ""))
		if a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusMethodNotAllowed || a.json(t)["statusCode"] != float64(a.StatusCode) {
			t.Errorf("%s with a session: %d %s", call, a.StatusCode, a.body)
		}
	}
	for _, path := range []string{"//healthz", "/x/../readyz", "/./openapi.yaml"} { // they are not paths of the server
		r.call(http.MethodGet, path, token).want(t, http.StatusForbidden)
		get(t, http.DefaultClient, r.api+path).want(t, http.StatusUnauthorized)
	}
	for call, want := range map[string]int{
		"GET /.well-known/oauth-authorization-server": 200, "POST /.well-known/oauth-authorization-server": 405, "GET /.well-known/oauth-protected-resource": 200,
		"GET /.well-known/jwks.json": 200, "GET /oauth/token": 405, "DELETE /oauth/register": 405, "GET /healthz": 200, "POST /healthz": 405, "GET /readyz": 200,
		"DELETE /readyz": 405, "GET /openapi.yaml": 200, "PUT /openapi.yaml": 405,
	} {
		method, path, _ := strings.Cut(call, " ")
		r.call(method, path, token).want(t, want)
		r.call(method, path, "pk_at_unknown").want(t, want)
		do(t, http.DefaultClient, request(t, method, r.api+path, "", "")).want(t, want)
		do(t, b, request(t, method, r.api+path, "", "")).want(t, want)
	}
}

// ERR-02, LIM-05
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	r := start(t)
	get(t, http.DefaultClient, r.api+"/nothing").want(t, http.StatusUnauthorized) // API-04
	a := get(t, r.session("usr_ada", "biz_bakery"), r.api+"/nothing").want(t, http.StatusNotFound)
	if body := a.json(t); body["statusCode"] != float64(404) || body["error"] != "Not Found" {
		t.Errorf("body %s", a.body)
	}
	page := get(t, http.DefaultClient, r.app+"/nothing").want(t, http.StatusNotFound)
	if !strings.Contains(page.body, `role="alert"`) {
		t.Errorf("page %s", page.body)
	}
	if a := do(t, http.DefaultClient, request(t, http.MethodDelete, r.app+"/login", "", "")).want(t, http.StatusMethodNotAllowed); a.Header.Get("Allow") == "" {
		t.Error("a 405 without Allow")
	}
}

func TestRestartKeepsDataAndClock(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "books.db")
	first := start(t, "-db", db)
	before := first.dev("clock", `{"advanceSeconds": 86400}`).want(t, http.StatusOK).json(t)["now"].(float64)
	first.dev("apps/ledgerlink-cli/status", `{"status": "SUSPENDED"}`).want(t, http.StatusOK)
	b := first.signIn("ada@example.com", "demo-ada")
	old, err := url.Parse(first.app)
	if err != nil {
		t.Fatal(err)
	}
	cookies := b.Jar.Cookies(old)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}

	second := start(t, "-db", db)
	after := get(t, http.DefaultClient, second.api+"/dev/clock").want(t, http.StatusOK).json(t)["now"].(float64)
	if after < before || after < float64(time.Now().Add(23*time.Hour).Unix()) {
		t.Errorf("the clock went back from %v to %v", before, after) // SBX-01
	}
	second.dev("apps/ledgerlink-cli/status", `{"status": "DEACTIVATED"}`).want(t, http.StatusOK)
	r := request(t, http.MethodGet, second.app+"/settings/apps", "", "")
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	do(t, browser(t), r).want(t, http.StatusOK)
	if !strings.Contains(second.stderr.String(), "demo-ada") {
		t.Error("the second start does not show the demo's sign-ins")
	}
}

func TestSecondServerOnOneFile(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "books.db")
	start(t, "-db", db)
	// DLV-05: the second process is refused and told what to do.
	if why := fails(t, "-db", db); !strings.Contains(why, "belongs to another process") || !strings.Contains(why, "PostgreSQL") {
		t.Error(why)
	}
}

func TestPortIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if why := fails(t, "-app", taken.Addr().String()); !strings.Contains(why, "-app") || !strings.Contains(why, "another program") {
		t.Error(why)
	}
}

// The process ends with 0 after SIGTERM, and writes nothing but the ready line.
func TestSignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), runAsServer+"=1", "PARTNERKIT_API=127.0.0.1:0", "PARTNERKIT_APP=127.0.0.1:0", "PARTNERKIT_DB=:memory:")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(out)
		var ready struct{ API string }
		if err := decoder.Decode(&ready); err != nil {
			t.Fatalf("%v: no ready line: %v\n%s", signal, err, &stderr)
		}
		get(t, http.DefaultClient, ready.API+"/healthz").want(t, http.StatusOK)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(io.MultiReader(decoder.Buffered(), out))
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v\n%s", signal, err, &stderr)
		}
		if text := strings.TrimSpace(string(rest)); text != "" {
			t.Errorf("%v: standard output goes on: %q", signal, text)
		}
	}
}

func TestLongHeaderIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t)
	req := request(t, http.MethodGet, r.api+"/healthz", "", "")
	req.Header.Set("X-Long", strings.Repeat("a", 128<<10))
	do(t, browser(t), req).want(t, http.StatusRequestHeaderFieldsTooLarge)
}
