// Package oauth compares the token endpoint with others, and with what its database
// asks for the same rows.
package oauth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// What every server knows.
const (
	clientID    = "client"
	redirectURI = "https://app.example.com/callback"
	verifier    = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
	challenge   = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	user        = "usr_1"
)

// server is a token endpoint with one confidential client.
type server struct {
	name   string
	token  http.Handler // takes POST /oauth/token
	path   string
	secret string
	// code makes an authorization code with a challenge, as consent would.
	code func() (string, error)
	stop func()
}

// tokens is what all of them answer with.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (s *server) redeem(code string) (tokens, error) {
	return s.post(url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI}, "code_verifier": {verifier},
	})
}

func (s *server) refresh(token string) (tokens, error) {
	return s.post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// address is where requests come from.
func (s *server) address() string { return "192.0.2.1:1234" }

// post is the same for all: a request, an answer, and two tokens that are in it.
func (s *server) post(form url.Values) (tokens, error) {
	r, err := http.NewRequest(http.MethodPost, s.path, strings.NewReader(form.Encode()))
	if err != nil {
		return tokens{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(clientID, s.secret)
	r.RemoteAddr = s.address()
	w := answer{header: http.Header{}, status: http.StatusOK}
	s.token.ServeHTTP(&w, r)
	if w.status != http.StatusOK {
		return tokens{}, fmt.Errorf("%s: status %d: %s", s.name, w.status, w.body.Bytes())
	}
	var got tokens
	if err := json.Unmarshal(w.body.Bytes(), &got); err != nil {
		return tokens{}, fmt.Errorf("%s: %w", s.name, err)
	}
	if got.Access == "" || got.Refresh == "" {
		return tokens{}, fmt.Errorf("%s: no tokens in %s", s.name, w.body.Bytes())
	}
	return got, nil
}

// family redeems a code.
func (s *server) family() (tokens, error) {
	code, err := s.code()
	if err != nil {
		return tokens{}, err
	}
	return s.redeem(code)
}

type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *answer) WriteHeader(status int)      { a.status = status }

var _ io.Writer = (*answer)(nil)
