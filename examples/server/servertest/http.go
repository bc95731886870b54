package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// FormType is the media type of forms.
const FormType = "application/x-www-form-urlencoded"

// Response is a response that was read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

func (r Response) String() string { return fmt.Sprintf("%d %.300s", r.Status, r.Body) }

// Text returns a string member of the body. It returns "" if the body is not JSON or has no
// such member.
func (r Response) Text(name string) string {
	var members map[string]any
	_ = json.Unmarshal([]byte(r.Body), &members) // a body that is none has no members
	text, _ := members[name].(string)
	return text
}

// Decode reads the JSON of the body.
func (r Response) Decode(out any) error { return json.Unmarshal([]byte(r.Body), out) }

// NewRequest makes a request with a body, or none, and headers, which are pairs.
func NewRequest(ctx context.Context, method, address, body string, headers ...string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r, nil
}

// Send makes a request and reads its response, of which it takes 64 MiB at most.
func Send(client *http.Client, r *http.Request) (Response, error) {
	res, err := client.Do(r)
	if err != nil {
		return Response{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return Response{}, fmt.Errorf("%s %s: half a response: %w", r.Method, r.URL, err)
	}
	return Response{res.StatusCode, res.Header, string(body)}, nil
}

// Values returns the form of pairs of a name and a value.
func Values(pairs ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return form
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// Form returns the form of a page, with what the server filled in.
func Form(page string) url.Values {
	form := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Add(html.UnescapeString(match[1]), html.UnescapeString(match[2]))
	}
	return form
}

// addresses counts the loopback addresses of clients.
var addresses atomic.Uint32

// NewDialer returns a dialer with a loopback address that no other dialer of this process
// has: the server counts limits by address.
func NewDialer() *net.Dialer {
	n := addresses.Add(1)
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 2+byte(n>>16), byte(n>>8), byte(n))}, Timeout: 20 * time.Second}
}

// NewClient returns a client with an address of its own, which follows no redirect.
func NewClient() *http.Client {
	return &http.Client{
		Timeout:       60 * time.Second,
		Transport:     &http.Transport{DialContext: NewDialer().DialContext, MaxIdleConnsPerHost: 4},
		CheckRedirect: followNothing,
	}
}

func followNothing(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
