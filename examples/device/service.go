package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxResponse is as much of a response as is read, in bytes.
const maxResponse = 64 << 10

// service is the service as its metadata describes it (RFC 8414), and who asks.
type service struct {
	Issuer             string `json:"issuer"`
	TokenEndpoint      string `json:"token_endpoint"`
	DeviceEndpoint     string `json:"device_authorization_endpoint"`
	RevocationEndpoint string `json:"revocation_endpoint"`
	APIBaseURL         string `json:"api_base_url"`

	client                 http.Client
	clientID, clientSecret string
}

// discover asks the service where everything is.
func discover(ctx context.Context, o options, transport http.RoundTripper) (*service, error) {
	s := &service{client: http.Client{Transport: transport, Timeout: 20 * time.Second}, clientID: o.clientID, clientSecret: o.clientSecret}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.api+"/.well-known/oauth-authorization-server", nil)
	if err != nil {
		return nil, err
	}
	if err := s.do(r, s); err != nil {
		return nil, fmt.Errorf("ask %s what it offers: %w", o.api, err)
	}
	if s.Issuer != o.api { // RFC 8414 section 3.3: the metadata of another issuer
		return nil, fmt.Errorf("%s says that it is %s", o.api, printable(s.Issuer))
	}
	return s, nil
}

// post sends a form as the app: by HTTP Basic with a secret, by its id alone without.
func (s *service) post(ctx context.Context, endpoint string, form url.Values, out any) error {
	if s.clientSecret == "" {
		form.Set("client_id", s.clientID)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode())) //nolint:gosec // where the service says that it is
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.clientSecret != "" {
		r.SetBasicAuth(url.QueryEscape(s.clientID), url.QueryEscape(s.clientSecret)) // RFC 6749 section 2.3.1
	}
	return s.do(r, out)
}

// do sends a request and reads the response into out; one that is not 2xx is a
// *refusal.
func (s *service) do(r *http.Request, out any) error {
	res, err := s.client.Do(r) //nolint:gosec // likewise
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return newRefusal(res, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not readable: %w", r.Method, r.URL.Path, err)
	}
	return nil
}

// refusal is an error that the service answered.
type refusal struct {
	Status     int           `json:"-"`
	Code       string        `json:"error"`
	RetryAfter time.Duration `json:"-"` // 0: it does not say
}

func newRefusal(res *http.Response, body []byte) *refusal {
	e := &refusal{Status: res.StatusCode}
	_ = json.Unmarshal(body, e) // without a code the status has to do
	if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// Error leaves out what the service says in prose: that is for logs, not for people.
func (e *refusal) Error() string {
	if e.Code == "" {
		return "status " + strconv.Itoa(e.Status)
	}
	return printable(e.Code) + " (status " + strconv.Itoa(e.Status) + ")"
}

// printable is text from elsewhere without what would steer a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
