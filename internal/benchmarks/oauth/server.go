// Package oauth compares the token endpoint with others, and with what its database
// asks for the same rows.
package oauth

import (
	"encoding/base64"
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

// tokens is what all of them respond with.
type tokens struct{ Access, Refresh string }

var codeForm = "grant_type=authorization_code&redirect_uri=" + url.QueryEscape(redirectURI) + "&code_verifier=" + verifier + "&code="

func (s *server) redeem(code string) (tokens, error) {
	return s.post(codeForm + url.QueryEscape(code))
}

func (s *server) refresh(token string) (tokens, error) {
	return s.post("grant_type=refresh_token&refresh_token=" + url.QueryEscape(token))
}

// address returns where requests come from.
func (s *server) address() string { return "192.0.2.1:1234" }

// post returns the same for all: a request, a response, and two tokens that are in it. What is
// measured is the server, so it costs little itself.
func (s *server) post(form string) (tokens, error) {
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: s.path}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: s.address(),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {s.basic()}},
		Body:   io.NopCloser(strings.NewReader(form)), ContentLength: int64(len(form)),
	}
	w := response{header: http.Header{}, status: http.StatusOK}
	s.token.ServeHTTP(&w, r)
	if w.status != http.StatusOK {
		return tokens{}, fmt.Errorf("%s: status %d: %s", s.name, w.status, w.body)
	}
	body := string(w.body)
	got := tokens{Access: member(body, "access_token"), Refresh: member(body, "refresh_token")}
	if got.Access == "" || got.Refresh == "" {
		return tokens{}, fmt.Errorf("%s: no tokens in %s", s.name, body)
	}
	return got, nil
}

func (s *server) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":"+s.secret))
}

// member returns a string of a JSON object that has nothing to escape.
func member(object, name string) string {
	_, rest, _ := strings.Cut(object, `"`+name+`":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// family redeems a code.
func (s *server) family() (tokens, error) {
	code, err := s.code()
	if err != nil {
		return tokens{}, err
	}
	return s.redeem(code)
}

type response struct {
	header http.Header
	status int
	body   []byte
}

func (a *response) Header() http.Header         { return a.header }
func (a *response) Write(p []byte) (int, error) { a.body = append(a.body, p...); return len(p), nil }
func (a *response) WriteHeader(status int)      { a.status = status }

var _ io.Writer = (*response)(nil)
