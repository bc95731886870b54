package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// partner is a partner's test against our sandbox.
type partner struct {
	*testing.T
	API, App string
	browser  http.Client // of usr_dev
}

// A sandbox for laptops has no client of PostgreSQL or Redis: they would be a fifth of the file.
func TestSandboxWithoutServers_SAND01(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := string(out)
	if !strings.Contains(deps, "partnerkit/sandbox\n") || strings.Contains(deps, "jackc/pgx") || strings.Contains(deps, "redis/go-redis") {
		t.Errorf("imports:\n%s", deps)
	}
}

// startSandbox runs the sandbox until the test ends.
func startSandbox(t *testing.T, flags ...string) *partner {
	t.Helper()
	p := &partner{T: t}
	jar, err := cookiejar.New(nil)
	p.must(err)
	p.browser = http.Client{Jar: jar, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	out, in := io.Pipe()
	var log logtest.Buffer
	ended := make(chan error, 1)
	go func() {
		program := sandbox.Program{Configure: configureSandbox}
		ended <- program.Run(ctx, append([]string{"-api", "localhost:0", "-app", "localhost:0"}, flags...), func(string) string { return "" }, in, &log)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		p.browser.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Errorf("the sandbox: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	p.must(json.Unmarshal(line, p))
	return p
}

func (p *partner) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *partner) call(method, address, kind, body string, change func(*http.Request)) (status int, header http.Header, text string) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, address, strings.NewReader(body))
	p.must(err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if change != nil {
		change(r)
	}
	res, err := p.browser.Do(r)
	p.must(err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	p.must(err)
	return res.StatusCode, res.Header, string(all)
}

func (p *partner) json(method, address, body string) (members map[string]any) {
	p.Helper()
	status, _, text := p.call(method, address, "application/json", body, nil)
	if status >= 300 {
		p.Fatalf("%s %s: %d %s", method, address, status, text)
	}
	p.must(json.Unmarshal([]byte(text), &members))
	return members
}

const formType = "application/x-www-form-urlencoded"

// connect approves the demo app, and returns an access token.
func (p *partner) connect(scope string) string {
	p.Helper()
	ask := url.Values{"response_type": {"code"}, "client_id": {"demo-app"}, "redirect_uri": {"http://localhost:9090/callback"}, "scope": {scope}, "state": {"s"}}
	_, _, page := p.call(http.MethodGet, p.App+"/oauth/authorize?"+ask.Encode(), "", "", nil)
	form := url.Values{}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	form.Set("business_id", "biz_demo")
	form.Set("decision", "allow")
	status, header, page := p.call(http.MethodPost, p.App+"/oauth/authorize", formType, form.Encode(), nil)
	back, err := url.Parse(header.Get("Location"))
	if err != nil || status != http.StatusSeeOther {
		p.Fatalf("decision: %d, %v\n%s", status, err, page)
	}
	form = url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {"http://localhost:9090/callback"}}
	status, _, text := p.call(http.MethodPost, p.API+"/oauth/token", formType, form.Encode(), func(r *http.Request) { r.SetBasicAuth("demo-app", "demo-secret") })
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &tokens); err != nil || status != http.StatusOK {
		p.Fatalf("token: %d %s", status, text)
	}
	return tokens.AccessToken
}

// SAND-01: our own platform is a program for partners: our routes, our events, a database in
// memory, and people of its own beside ours.
func TestSandbox_SAND01(t *testing.T) {
	t.Parallel()
	p := startSandbox(t)
	p.json(http.MethodPost, p.API+"/dev/sessions", `{"userId": "usr_dev", "businessId": "biz_demo"}`)
	token := p.connect("invoices:write invoices:read events:read")

	got := make(chan signature.Delivery, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var one signature.Delivery
		if json.NewDecoder(r.Body).Decode(&one) == nil {
			got <- one
		}
	}))
	t.Cleanup(receiver.Close)
	p.json(http.MethodPost, p.API+"/developer/apps/app_demo/webhooks", `{"url": "`+receiver.URL+`", "events": ["invoice.created"]}`)

	withToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	if status, _, text := p.call(http.MethodPost, p.API+"/invoices", "application/json", `{"number": "7", "total": 1250}`, withToken); status != http.StatusCreated {
		t.Fatalf("POST /invoices: %d %s", status, text)
	}
	p.json(http.MethodPost, p.API+"/dev/clock", `{"advanceSeconds": 0}`)
	if d := <-got; d.Type != "invoice.created" || d.BusinessID != "biz_demo" || string(d.Data) != `{"number":"7","total":1250}` {
		t.Errorf("delivery %+v", d)
	}
	p.json(http.MethodPost, p.API+"/dev/clock", `{"advanceSeconds": 3600}`)
	if status, _, text := p.call(http.MethodPost, p.API+"/invoices", "application/json", `{"number": "8", "total": 1}`, withToken); status != http.StatusUnauthorized {
		t.Errorf("after an hour: %d %s", status, text)
	}

	if status, _, text := p.call(http.MethodGet, p.API+"/hello", "", "", nil); status != http.StatusOK || text != "hello\n" {
		t.Errorf("our own route, with a session: %d %s", status, text)
	}
	p.json(http.MethodPost, p.API+"/dev/memberships", `{"businessId": "biz_demo", "userId": "usr_dev", "role": null}`)
	if _, _, page := p.call(http.MethodGet, p.App+"/sandbox/sign-in?return_to=/developer", "", "", nil); !strings.Contains(page, "Dana Petrova") || strings.Contains(page, "Example Business") {
		t.Errorf("the sign-in page of one who left:\n%s", page)
	}
}

// SAND-01: with -db the database is a file, which a second start finds filled.
func TestSandboxFile_SAND01(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			p := startSandbox(t, "-db", path)
			p.json(http.MethodPost, p.API+"/dev/sessions", `{"userId": "usr_dev", "businessId": "biz_demo"}`)
			p.connect("invoices:write")
		})
	}
}

// SAND-01: outside of this machine a sandbox does not start.
func TestSandboxElsewhere_SAND01(t *testing.T) {
	t.Parallel()
	program := sandbox.Program{Configure: configureSandbox}
	err := program.Run(t.Context(), []string{"-api", "localhost:0", "-app", "localhost:0", "-dev=false", "-key", strings.Repeat("A", 43) + "="}, func(string) string { return "" }, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "a sandbox is for this machine") {
		t.Errorf("started outside development mode: %v", err)
	}
}
