// Package sandbox_test has tests as partners write them against a sandbox: in Go here, in
// JavaScript in partner.test.mjs and in Python in test_partner.py. docs/sandbox.md explains
// them.
package sandbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const (
	clientID, clientSecret, redirect = "ledgerlink-sync", "demo-secret-ledgerlink-sync", "http://localhost:9090/callback"
	business, user, developer        = "biz_bakery", "usr_ada", "usr_dev"
	webhookSecret                    = "whsec_demo_ledgerlink_sync" //nolint:gosec // that of the demo
)

// sandbox is a sandbox that runs as long as its test.
type sandbox struct {
	*testing.T
	API, App string
	http.Client
}

func start(t *testing.T, program string, flags ...string) *sandbox {
	t.Helper()
	s := &sandbox{T: t, Client: http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	command := exec.CommandContext(t.Context(), program, append([]string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}, flags...)...)
	out, err := command.StdoutPipe()
	s.must(err)
	s.must(command.Start())
	t.Cleanup(func() {
		s.CloseIdleConnections()
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	s.must(err)
	s.must(json.Unmarshal(line, s)) // it is ready
	return s
}

func (s *sandbox) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// response is the JSON of a response.
type response struct {
	Now               int64
	Cookie, ID, Error string
	AccessToken       string `json:"access_token"`
	RefreshToken      string `json:"refresh_token"`
	Data              []struct{ Attempts int }
}

func (s *sandbox) send(method, address, kind, cookie, body string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(s.Context(), method, address, strings.NewReader(body))
	s.must(err)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Cookie", cookie)
	if strings.HasSuffix(address, "/oauth/token") {
		r.SetBasicAuth(clientID, clientSecret)
	}
	res, err := s.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res, string(text), err
}

func (s *sandbox) json(method, address, cookie, body string) (r response) {
	s.Helper()
	res, text, err := s.send(method, address, "application/json", cookie, body)
	s.must(err)
	if res.StatusCode >= 300 {
		s.Fatalf("%s %s: %d %s", method, address, res.StatusCode, text)
	}
	s.must(json.Unmarshal([]byte(text), &r))
	return r
}

// dev makes a call of development mode.
func (s *sandbox) dev(path, body string) response {
	s.Helper()
	return s.json(http.MethodPost, s.API+"/dev/"+path, "", body)
}

func (s *sandbox) advance(seconds string) int64 {
	s.Helper()
	return s.dev("clock", `{"advanceSeconds": `+seconds+`}`).Now
}

// token makes a request of the token endpoint, as your client would.
func (s *sandbox) token(form url.Values) (status int, r response, err error) {
	s.Helper()
	res, text, err := s.send(http.MethodPost, s.API+"/oauth/token", "application/x-www-form-urlencoded", "", form.Encode())
	if err != nil {
		return 0, r, err
	}
	s.must(json.Unmarshal([]byte(text), &r))
	return res.StatusCode, r, nil
}

func (s *sandbox) refresh(old response) (int, response, error) {
	s.Helper()
	return s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.RefreshToken}})
}

func (s *sandbox) wantProfile(tokens response, want int) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.API+"/profile", nil)
	s.must(err)
	r.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	res, err := s.Do(r)
	s.must(err)
	_ = res.Body.Close()
	if res.StatusCode != want {
		s.Errorf("GET /profile: %d, want %d", res.StatusCode, want)
	}
}

func (s *sandbox) wantInvalidGrant(status int, got response, err error) {
	s.Helper()
	if err != nil || status != http.StatusBadRequest || got.Error != "invalid_grant" {
		s.Errorf("%d %q, %v, want invalid_grant", status, got.Error, err)
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// connect approves the app as a person of the business.
func (s *sandbox) connect() response {
	s.Helper()
	cookie := s.dev("sessions", `{"userId": "`+user+`", "businessId": "`+business+`"}`).Cookie
	ask := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirect}, "scope": {"profile:read events:read invoices:read"}, "state": {"test"},
	}
	_, page, err := s.send(http.MethodGet, s.App+"/oauth/authorize?"+ask.Encode(), "", cookie, "")
	s.must(err)
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	form.Set("business_id", business)
	form.Set("decision", "allow")
	decided, _, err := s.send(http.MethodPost, s.App+"/oauth/authorize", "application/x-www-form-urlencoded", cookie, form.Encode())
	s.must(err)
	back, err := decided.Location()
	s.must(err)
	status, tokens, err := s.token(url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {redirect}})
	if err != nil || status != http.StatusOK {
		s.Fatalf("token: %d, %v", status, err)
	}
	return tokens
}

func TestPartner(t *testing.T) {
	s := start(t, program(t))

	t.Run("31 days of tokens", func(*testing.T) {
		tokens := s.connect()
		s.wantProfile(tokens, http.StatusOK)
		s.advance("3600")
		s.wantProfile(tokens, http.StatusUnauthorized) // the access token has expired
		for range 2 {
			_, renewed, err := s.refresh(tokens)
			s.must(err)
			tokens = renewed
			s.wantProfile(tokens, http.StatusOK)
			s.advance("1296000") // 15 days
		}
		_, tokens, err := s.refresh(tokens) // after 30 days, each token younger than that
		s.must(err)
		s.advance("2678400")                  // 31 days
		s.wantInvalidGrant(s.refresh(tokens)) // connect again
	})

	t.Run("six attempts of a webhook", func(t *testing.T) {
		s.connect()
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{webhookSecret}, Tolerance: 400 * 24 * time.Hour}) // the clock is moved
		s.must(err)
		var mu sync.Mutex
		var attempts []signature.Delivery
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			body, _ := io.ReadAll(r.Body)
			if err := verifier.Verify(r.Header.Get(signature.Header), body); err != nil {
				t.Error(err)
			}
			var one signature.Delivery
			s.must(json.NewDecoder(bytes.NewReader(body)).Decode(&one))
			attempts = append(attempts, one)
			w.WriteHeader(http.StatusInternalServerError) // and fails
		}))
		t.Cleanup(receiver.Close)
		cookie := s.dev("sessions", `{"userId": "`+developer+`"}`).Cookie
		hook := s.API + "/developer/apps/app_sync/webhooks/whk_sync"
		s.json(http.MethodPatch, hook, cookie, `{"url": "`+receiver.URL+`", "events": ["invoice.paid"]}`)
		event := s.dev("events", `{"businessId": "`+business+`", "type": "invoice.paid", "data": {"id": "inv_1"}}`).ID
		for i, pause := range []string{"0", "60", "300", "1800", "7200", "21600", "86400"} {
			s.advance(pause)
			mu.Lock()
			if want := min(i+1, 6); len(attempts) != want || attempts[want-1].EventID != event {
				t.Errorf("%d attempts, want %d of %s", len(attempts), want, event)
			}
			mu.Unlock()
		}
		if data := s.json(http.MethodGet, hook+"/deliveries?status=failed", cookie, "").Data; len(data) == 0 || data[0].Attempts != 6 {
			t.Errorf("deliveries that failed: %v", data)
		}
	})

	t.Run("a revoked consent", func(*testing.T) {
		tokens := s.connect()
		s.dev("consents/revoke", `{"clientId": "`+clientID+`", "businessId": "`+business+`", "userId": "`+user+`"}`)
		s.wantProfile(tokens, http.StatusUnauthorized)
		s.wantInvalidGrant(s.refresh(tokens))
	})

	t.Run("a lost refresh response", func(t *testing.T) {
		tokens := s.connect()
		s.dev("faults", `{"route": "POST /oauth/token", "loseResponse": true}`)
		if _, _, err := s.refresh(tokens); err == nil {
			t.Error("a response") // the token was used, and nobody knows the new one
		}
		s.wantInvalidGrant(s.refresh(tokens))
		s.wantProfile(s.connect(), http.StatusOK) // what your client has to come to
	})
}
