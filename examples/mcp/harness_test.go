package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// harness is the program on two free ports, with a clock of its own.
type harness struct {
	*testing.T
	*service
	APIURL, AppURL string
	clock          *clock.Manual
}

func newHarness(t *testing.T, o settings) *harness {
	t.Helper()
	api, app := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	h := &harness{
		T: t, clock: clock.NewManual(time.Now()),
		APIURL: "http://" + api.Listener.Addr().String(), AppURL: "http://" + app.Listener.Addr().String(),
	}
	var err error
	o.APIURL, o.AppURL, o.Clock = h.APIURL, h.AppURL, h.clock
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	if h.service, err = open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- h.platform.Run(ctx) }()
	api.Config.Handler, app.Config.Handler = h.platform.API(), h.platform.App()
	api.Start()
	app.Start()
	t.Cleanup(func() {
		api.Close()
		app.Close()
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// form is what a page's form sends, with more fields.
func form(page string, more url.Values) url.Values {
	for _, match := range hiddenField.FindAllStringSubmatch(page, -1) {
		more.Add(html.UnescapeString(match[1]), html.UnescapeString(match[2]))
	}
	return more
}

// approve is Ada at her browser: she signs in where a client has sent her, allows what it
// asks for in a business, and is sent back. It returns where to.
func (h *harness) approve(authorizeURL, business string) (*url.URL, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), h.AppURL) {
			return nil
		}
		return http.ErrUseLastResponse // back to the client
	}}
	defer browser.CloseIdleConnections()
	page, res, err := read(browser.Get(authorizeURL)) // the sign-in page
	if err != nil {
		return nil, err
	}
	page, _, err = read(browser.PostForm(res.Request.URL.String(), form(page, url.Values{"email": {"ada@example.com"}, "password": {"demo-ada"}})))
	if err != nil {
		return nil, err
	}
	text, res, err := read(browser.PostForm(h.AppURL+"/oauth/authorize", form(page, url.Values{"business_id": {business}, "decision": {"allow"}})))
	if err != nil {
		return nil, err
	}
	if res.Header.Get("Location") == "" {
		return nil, fmt.Errorf("%s\n%s\n%s", res.Status, page, text)
	}
	return res.Location()
}

func read(res *http.Response, err error) (string, *http.Response, error) {
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), res, err
}

// token registers a client and returns an access token with the scopes.
func (h *harness) token(scope string) string {
	h.Helper()
	const redirect, verifier = "http://127.0.0.1:7777/callback", "a-code-verifier-that-is-long-enough-for-pkce-s256"
	var client struct {
		ID string `json:"client_id"`
	}
	h.fetch(http.Post(h.APIURL+"/oauth/register", "application/json", strings.NewReader(
		`{"client_name": "Agent", "redirect_uris": ["`+redirect+`"], "token_endpoint_auth_method": "none"}`)))(&client)
	digest := sha256.Sum256([]byte(verifier))
	back, err := h.approve(h.AppURL+"/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect}, "scope": {scope}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(digest[:])}, "code_challenge_method": {"S256"}, "resource": {h.APIURL + path},
	}.Encode(), sandbox)
	if err != nil {
		h.Fatal(err)
	}
	var issued struct {
		Token string `json:"access_token"`
	}
	h.fetch(http.PostForm(h.APIURL+"/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {client.ID},
		"redirect_uri": {redirect}, "code_verifier": {verifier}, "resource": {h.APIURL + path},
	}))(&issued)
	return issued.Token
}

// fetch returns a function that decodes the response.
func (h *harness) fetch(res *http.Response, err error) func(out any) {
	h.Helper()
	text, res, err := read(res, err)
	if err != nil || res.StatusCode >= 300 {
		h.Fatalf("%v %v %s", err, res, text)
	}
	return func(out any) {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			h.Fatalf("%v: %s", err, text)
		}
	}
}
