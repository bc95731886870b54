//go:build linux

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// response is a response.
type response struct{ servertest.Response }

const formType = servertest.FormType

// browser is the browser of a signed-in user. Each browser has its own address, from which
// the calls come that its Client makes without the session.
type browser struct {
	*http.Client
	session *servertest.Browser
}

// signIn creates a session through /dev.
func (v *victim) signIn(userID, businessID string) (*browser, error) {
	client := servertest.NewClient()
	session, err := servertest.SignIn(client, v.API, v.App, userID, businessID)
	return &browser{client, session}, err
}

// get requests a page, or what the console API shows, with the session.
func (b *browser) get(address string) (response, error) {
	return send(b.session.Client, http.MethodGet, address, "", "")
}

// send makes a request; headers are pairs.
func send(client *http.Client, method, address, contentType, body string, headers ...string) (response, error) {
	if contentType != "" {
		headers = append([]string{"Content-Type", contentType}, headers...)
	}
	r, err := servertest.NewRequest(context.Background(), method, address, body, headers...)
	if err != nil {
		return response{}, err
	}
	got, err := servertest.Send(client, r)
	return response{got}, err
}

// tokens are the tokens in a response of the token endpoint.
type tokens struct{ access, refresh string }

// token makes a request to the token endpoint with the app's secret.
func (v *victim) token(client *http.Client, a app, pairs ...string) (tokens, response, error) {
	form := servertest.Values(append(pairs, "client_id", a.ClientID, "client_secret", string(a.ClientSecret))...)
	got, err := send(client, http.MethodPost, v.API+"/oauth/token", formType, form.Encode())
	return tokens{got.Text("access_token"), got.Text("refresh_token")}, got, err
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
	query := url.Values{"response_type": {"code"}, "client_id": {a.ClientID}, "redirect_uri": {redirectURI}, "scope": {scopes}, "state": {"s"}}
	back, err := b.session.Approve(v.App+"/oauth/authorize?"+query.Encode(), businessID)
	if err != nil {
		return nil, tokens{}, err
	}
	got, said, err := v.token(b.Client, a, "grant_type", "authorization_code", "code", back.Get("code"), "redirect_uri", redirectURI)
	switch {
	case err == nil && said.Status == http.StatusTooManyRequests:
		return nil, tokens{}, errLimited
	case err != nil || said.Status != http.StatusOK:
		return nil, tokens{}, fmt.Errorf("redeem: %v, %v", said, err)
	}
	return b, got, nil
}
