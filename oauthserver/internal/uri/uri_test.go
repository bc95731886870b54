package uri_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
)

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://api.example.com": "https://api.example.com", "https://API.example.com:443": "https://api.example.com",
		"http://localhost:8080": "http://localhost:8080", "http://[::1]:80": "http://[::1]", "https://[0:0::1]:8443": "https://[::1]:8443", "https://[2001:DB8:0:0::1]": "https://[2001:db8::1]",
		"http://api.example.com": "", "https://api.example.com/": "", "https://me@api.example.com": "", "https://api.example.com?a": "",
		"https://api.example.com:0": "", "api.example.com": "", "": "",
	} {
		if got, err := uri.ParseOrigin(raw); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}

func TestCheckResource(t *testing.T) {
	t.Parallel()
	const origin = "https://api.example.com"
	for _, test := range []struct {
		values []string
		fine   bool
	}{
		{nil, true},
		{[]string{origin}, true},
		{[]string{"HTTPS://API.example.com:443/v1?a=b"}, true},
		{[]string{origin, origin}, false},
		{[]string{""}, false},
		{[]string{origin + "/#a"}, false},
		{[]string{origin + "/a b"}, false},
		{[]string{"https://me@api.example.com/"}, false},
		{[]string{"https://other.example.com"}, false},
		{[]string{"/v1"}, false},
	} {
		t.Run("TOK-06 "+strings.Join(test.values, " "), func(t *testing.T) {
			t.Parallel()
			if err := uri.CheckResource(test.values, origin); (err == nil) != test.fine {
				t.Error(err)
			}
		})
	}
}

func TestCallback(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		redirectURI string
		state       []byte
		issuer      string
		want        string
	}{
		{"https://a.example/cb", nil, "", "https://a.example/cb?code=x"},
		{"https://a.example/cb?b=c", nil, "", "https://a.example/cb?b=c&code=x"},
		{"https://a.example/cb?", nil, "", "https://a.example/cb?code=x"},
		{"https://a.example/cb?b&", nil, "", "https://a.example/cb?b&code=x"},
		{"com.example.app:/cb", []byte("a+b%20c"), "", "com.example.app:/cb?code=x&state=a+b%20c"},
		{"https://a.example/cb", []byte("a\r\nb\"<\x7fü"), "", "https://a.example/cb?code=x&state=a%0D%0Ab%22%3C%7F%C3%BC"},
		{"https://a.example/cb", []byte("s"), "https://api.example:8443", "https://a.example/cb?code=x&state=s&iss=https%3A%2F%2Fapi.example%3A8443"},
	} {
		t.Run("AZ-10 "+test.redirectURI, func(t *testing.T) {
			t.Parallel()
			if got := uri.Callback(test.redirectURI, uri.Response{Parameter: "code=x", State: test.state, Issuer: test.issuer}); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// AZ-10, AZ-17: a state is stored shorter and arrives as it was sent.
func FuzzShortenState(f *testing.F) {
	for _, seed := range []string{"", "a+b%20c%2Bd", "%00%0d%0A%7f", "%ff%FE", "\u00e9\xff", "%", "%4", "%zz", "%25%2525", "%%20", `"<>`, "%C3%A9"} {
		f.Add(seed)
	}
	at := func(state []byte) string {
		return uri.Callback("https://a.example/cb", uri.Response{Parameter: "code=x", State: state})
	}
	f.Fuzz(func(t *testing.T, raw string) {
		short := uri.ShortenState(raw)
		if got, want := at(short), at([]byte(raw)); got != want || len(short) > len(raw) {
			t.Errorf("%q is stored as %q and returned as %s, want %s", raw, short, got, want)
		}
	})
}
