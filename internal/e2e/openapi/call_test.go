package openapi_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// call is a request of the story, and the status that it must get.
type call struct {
	method, url string
	as          *http.Client // nil: a client without a session
	token       string
	basic       [2]string
	header      map[string]string
	json        any
	form        url.Values
	media, body string // anything else
	want        int
}

// reply is a response, read.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do makes a call, which the checker watches.
func (s *service) do(c call) reply {
	s.t.Helper()
	media, body := c.media, []byte(c.body)
	switch {
	case c.json != nil:
		media = "application/json"
		encoded, err := json.Marshal(c.json)
		if err != nil {
			s.t.Fatal(err)
		}
		body = encoded
	case c.form != nil:
		media, body = "application/x-www-form-urlencoded", []byte(c.form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), c.method, c.url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.basic[0] != "" {
		r.SetBasicAuth(c.basic[0], c.basic[1])
	}
	for name, value := range c.header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := c.as
	if client == nil {
		client = s.browser(nil)
	}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", c.method, c.url, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if c.want != 0 && res.StatusCode != c.want {
		s.t.Errorf("%s %s: %d, want %d: %.300s", c.method, c.url, res.StatusCode, c.want, got)
	}
	return reply{s.t, res.StatusCode, res.Header, got}
}

// browser follows no redirect. With a jar it keeps cookies.
func (s *service) browser(jar http.CookieJar) *http.Client {
	return &http.Client{Transport: s.checker, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// person returns the browser of a signed-in user.
func (s *service) person(userID, businessID string) *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := s.browser(jar)
	s.do(call{method: "POST", url: s.API + "/dev/sessions", as: client, json: map[string]any{"userId": userID, "businessId": businessID}, want: 200})
	return client
}

// dev makes a call of development mode.
func (s *service) dev(path string, body any) reply {
	s.t.Helper()
	return s.do(call{method: "POST", url: s.API + "/dev" + path, json: body, want: 200})
}

// nextMinute lets all windows begin again.
func (s *service) nextMinute() { s.dev("/clock", map[string]any{"advanceSeconds": 61}) }

// exhaust repeats a call until it is refused for some time to come: a window that ends
// soon is left to end.
func (s *service) exhaust(c call) {
	s.t.Helper()
	for {
		r := s.do(c)
		if r.status != http.StatusTooManyRequests {
			continue
		}
		wait, err := strconv.Atoi(r.header.Get("Retry-After"))
		if err != nil {
			s.t.Fatal(err)
		}
		if wait > 20 {
			return
		}
		s.dev("/clock", map[string]any{"advanceSeconds": wait})
	}
}

// get finds a member of a JSON response: "data.0.id".
func (r reply) get(path string) any {
	r.t.Helper()
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[name]
		case []any:
			if len(at) == 0 {
				r.t.Fatalf("%s: there is none: %s", path, r.body)
			}
			value = at[0]
		}
	}
	return value
}

// text is get for a string that must be there.
func (r reply) text(path string) string {
	r.t.Helper()
	text, ok := r.get(path).(string)
	if !ok || text == "" {
		r.t.Fatalf("no %s in %s", path, r.body)
	}
	return text
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`)

// fields are the hidden fields of a page's form.
func (r reply) fields(more ...string) url.Values {
	values := url.Values{}
	for _, match := range hidden.FindAllSubmatch(r.body, -1) {
		values.Set(string(match[1]), html.UnescapeString(string(match[2])))
	}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}
