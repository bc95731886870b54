//go:build linux

package hostile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// response is a response.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a response) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// text returns a member of the body.
func (a response) text(name string) string {
	var members map[string]any
	_ = json.Unmarshal(a.body, &members)
	text, _ := members[name].(string)
	return text
}

// browser is the browser of a signed-in user. Each browser has its own address.
type browser struct {
	*http.Client
	v      *victim
	cookie string // of the session, and what pages add
}

// signIn creates a session through /dev.
func (v *victim) signIn(userID, businessID string) (*browser, error) {
	b := &browser{Client: newClient(), v: v}
	got, err := b.do(http.MethodPost, v.API+"/dev/sessions", "application/json", fmt.Sprintf(`{"userId":%q,"businessId":%q}`, userID, businessID))
	if err != nil || got.status != http.StatusOK {
		return nil, fmt.Errorf("sign in: %v, %v", got, err)
	}
	b.cookie, _, _ = strings.Cut(got.text("cookie"), ";")
	return b, nil
}

// do sends a request; headers are pairs.
func (b *browser) do(method, address, contentType, body string, headers ...string) (response, error) {
	return send(b.Client, method, address, contentType, body, append(headers, "Cookie", b.cookie)...)
}

func send(client *http.Client, method, address, contentType, body string, headers ...string) (response, error) {
	r, err := http.NewRequest(method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		return response{}, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	return response{res.StatusCode, res.Header, text}, err
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

const formType = "application/x-www-form-urlencoded"

// authorize connects an app, and returns the code.
func (b *browser) authorize(clientID, businessID string) (code string, err error) {
	query := url.Values{"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirectURI}, "scope": {scopes}, "state": {"s"}}
	page, err := b.do(http.MethodGet, b.v.App+"/oauth/authorize?"+query.Encode(), "", "")
	if err != nil || page.status != http.StatusOK {
		return "", fmt.Errorf("consent page: %v, %v", page, err)
	}
	cookie := b.cookie
	for _, set := range page.header["Set-Cookie"] {
		pair, _, _ := strings.Cut(set, ";")
		cookie += "; " + pair
	}
	form := url.Values{"business_id": {businessID}, "decision": {"allow"}}
	for _, match := range hidden.FindAllStringSubmatch(string(page.body), -1) {
		form.Set(match[1], html.UnescapeString(match[2]))
	}
	done, err := send(b.Client, http.MethodPost, b.v.App+"/oauth/authorize", formType, form.Encode(), "Cookie", cookie)
	if err != nil || done.status != http.StatusSeeOther {
		return "", fmt.Errorf("decision: %v, %v", done, err)
	}
	back, err := url.Parse(done.header.Get("Location"))
	if err != nil || back.Query().Get("code") == "" {
		return "", fmt.Errorf("sent to %q: %v", done.header.Get("Location"), err)
	}
	return back.Query().Get("code"), nil
}

// tokens are the tokens in a response of the token endpoint.
type tokens struct{ access, refresh string }

// token makes a request to the token endpoint with the app's secret.
func (v *victim) token(client *http.Client, a app, pairs ...string) (tokens, response, error) {
	form := url.Values{"client_id": {a.ClientID}, "client_secret": {string(a.ClientSecret)}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	got, err := send(client, http.MethodPost, v.API+"/oauth/token", formType, form.Encode())
	return tokens{got.text("access_token"), got.text("refresh_token")}, got, err
}

// errLimited is returned when the token endpoint's limit is reached.
var errLimited = errors.New("too many requests")

// connect runs the whole flow: sign in, consent, code, token.
func (v *victim) connect(a app, userID, businessID string) (_ *browser, _ tokens, err error) {
	b, err := v.signIn(userID, businessID)
	if err != nil {
		return nil, tokens{}, err
	}
	defer func() {
		if err != nil {
			b.CloseIdleConnections()
		}
	}()
	code, err := b.authorize(a.ClientID, businessID)
	if err != nil {
		return nil, tokens{}, err
	}
	got, said, err := v.token(b.Client, a, "grant_type", "authorization_code", "code", code, "redirect_uri", redirectURI)
	switch {
	case err == nil && said.status == http.StatusTooManyRequests:
		return nil, tokens{}, errLimited
	case err != nil || said.status != http.StatusOK:
		return nil, tokens{}, fmt.Errorf("redeem: %v, %v", said, err)
	}
	return b, got, nil
}
