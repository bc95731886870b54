package outbound_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// specialAddresses are literals that attackers send, each also tried as a DNS response.
var specialAddresses = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
	"192.168.0.1", "169.254.169.254", "100.64.0.1", "168.63.129.16", "192.0.0.1", "192.0.2.1", "198.18.0.1",
	"198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
	"::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1",
	"fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
}

// DLV-07: what is refused when a URL is saved, and in which words.
func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	const (
		notHTTPS   = "url must use https"
		notPublic  = "url must not name an address that is not public"
		oddIPv4    = "url must write an IPv4 address as four decimal numbers"
		here       = "url must not name this machine"
		noHost     = "url must have a host"
		userInfo   = "url must not contain user info"
		fragment   = "url must not contain a fragment"
		control    = "url must not contain spaces or control characters"
		backslash  = "url must not contain a backslash"
		badPort    = "url must have a port from 1 to 65535, without leading zeros"
		badLabel   = "url must have a host of labels with 1 to 63 characters"
		badLetter  = "url must have a host of letters, digits, hyphens and dots"
		unreadable = "url cannot be parsed"
		relative   = "url must be absolute and begin with https://"
		notASCII   = "url must be ASCII: write the host in punycode and percent-encode the rest"
	)
	for raw, want := range map[string]string{
		"":                                                   "url must not be empty",
		"/hooks":                                             relative,
		"example.com/hooks":                                  relative,
		"//example.com/hooks":                                relative,
		"http://example.com/":                                notHTTPS,
		"http://127.0.0.1/":                                  notPublic,
		"ftp://example.com/":                                 notHTTPS,
		"file:///etc/passwd":                                 notHTTPS,
		"gopher://example.com":                               notHTTPS,
		"javascript:alert(1)":                                notHTTPS,
		"https:example.com":                                  noHost,
		"https://":                                           noHost,
		"https:///path":                                      noHost,
		"https://:443/":                                      noHost,
		"https://user@example.com/":                          userInfo,
		"https://user:pass@example.com/":                     userInfo,
		"https://@example.com/":                              userInfo,
		"https://foo@127.0.0.1/":                             userInfo,
		"https://example.com/#part":                          fragment,
		"https://example.com/#":                              fragment,
		"https://example.com/a b":                            control,
		" https://example.com/":                              control,
		"https://example.com/\r\nX: y":                       control,
		"https://example.com/\x00":                           control,
		"https://example.com/\x7f":                           control,
		"https://example.com\\@evil.test":                    backslash,
		"https:\\\\example.com":                              backslash,
		"https://bücher.example/":                            notASCII,
		"https://１２７.０.０.１/":                                 notASCII,
		"https://example.com/\xff":                           notASCII,
		"https://example.com:0/":                             badPort,
		"https://example.com:/":                              badPort,
		"https://example.com:65536/":                         badPort,
		"https://example.com:99999/":                         badPort,
		"https://example.com:0443/":                          badPort,
		"https://example.com:00/":                            badPort,
		"https://example.com:http/":                          unreadable,
		"https://[::1/":                                      unreadable,
		"https://[8.8.8.8]/":                                 unreadable, // CVE-2025-47912
		"https://[example.com]/":                             unreadable,
		"https://[v1.a]/":                                    unreadable,
		"https://example.com[::1]/":                          unreadable, // CVE-2026-25679
		"https://[::1]example.com/":                          unreadable,
		"https://%31%32%37.0.0.1/":                           unreadable,
		"https://2130706433/":                                oddIPv4,
		"https://0x7f000001/":                                oddIPv4,
		"https://0x7f.1/":                                    oddIPv4,
		"https://0X7F.1/":                                    oddIPv4,
		"https://0177.0.0.1/":                                oddIPv4,
		"https://127.1/":                                     oddIPv4,
		"https://127.0.0.1./":                                oddIPv4,
		"https://127.0.0.0x1/":                               oddIPv4,
		"https://127.0.0.256/":                               oddIPv4,
		"https://1.2.3.4.5/":                                 oddIPv4,
		"https://8.8.8.010/":                                 oddIPv4,
		"https://example.0x/":                                oddIPv4,
		"https://localhost/":                                 here,
		"https://LOCALHOST./":                                here,
		"https://app.localhost/":                             here,
		"https://[::1]/":                                     notPublic,
		"https://[::1%25lo]/":                                "url must not have a zone in its address",
		"https://a..b/":                                      badLabel,
		"https://./":                                         badLabel,
		"https://.example.com/":                              badLabel,
		"https://exa!mple.com/":                              badLetter,
		"https://exa,mple.com/":                              badLetter,
		"https://" + strings.Repeat("a", 64) + ".test/":      badLabel,
		"https://" + strings.Repeat("a.", 130) + "test/":     "url must not have a host longer than 253 characters",
		"https://example.com/" + strings.Repeat("a", 2029):   "url must not be longer than 2048 bytes",
		"https://example.com/?next=" + "http://127.0.0.1#no": fragment,
	} {
		wantURLError(t, outbound.Policy{}, raw, want)
	}
	for _, text := range specialAddresses {
		host := text
		if strings.Contains(text, ":") {
			host = "[" + text + "]"
		}
		wantURLError(t, outbound.Policy{}, "https://"+host+"/", notPublic)
		wantURLError(t, outbound.Policy{}, "https://"+host+":8443/", notPublic)
	}
}

func TestParseURLTakes(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"https://example.com", "https://example.com/", "HTTPS://EXAMPLE.com/Hooks", "https://example.com./",
		"https://example.com:8443/hooks?a=b&c=d%20e", "https://xn--bcher-kva.example/", "https://my_app.example.com/",
		"https://8.8.8.8/", "https://[2606:4700:4700::1111]:443/", "https://0xcafe.example/", "https://123.example/",
		"https://127.0.0.1.nip.io/", // a name like any other: DNS and the dial decide
		"https://example.com/" + strings.Repeat("a", 2028),
	} {
		u, err := (outbound.Policy{}).ParseURL(raw)
		if err != nil {
			t.Errorf("ParseURL(%q): %v", raw, err)
		} else if u.Scheme != "https" {
			t.Errorf("ParseURL(%q) has scheme %q", raw, u.Scheme)
		}
	}
}

// WH-01: http, and loopback at all, only under the development option.
func TestParseURLAllowLoopback(t *testing.T) {
	t.Parallel()
	open := outbound.Policy{AllowLoopback: true}
	for _, raw := range []string{
		"http://localhost:9000/hooks", "http://LOCALHOST./", "http://app.localhost/", "http://127.0.0.1:1/",
		"http://[::1]:9000/", "https://localhost/", "https://127.8.8.8/", "http://[::ffff:127.0.0.1]/",
	} {
		if _, err := open.ParseURL(raw); err != nil {
			t.Errorf("ParseURL(%q): %v", raw, err)
		}
	}
	for raw, want := range map[string]string{
		"http://example.com/":        "url must use https",
		"http://8.8.8.8/":            "url must use https",
		"http://notlocalhost/":       "url must use https",
		"http://localhost.evil.com/": "url must use https",
		"http://10.0.0.1/":           "url must not name an address that is not public",
		"https://0.0.0.0/":           "url must not name an address that is not public",
		"http://127.1/":              "url must write an IPv4 address as four decimal numbers",
		"http://me@localhost/":       "url must not contain user info",
	} {
		wantURLError(t, open, raw, want)
	}
}

func wantURLError(t *testing.T, policy outbound.Policy, raw, want string) {
	t.Helper()
	_, err := policy.ParseURL(raw)
	if _, ok := errors.AsType[*outbound.URLError](err); !ok || err.Error() != want {
		t.Errorf("ParseURL(%q) = %v, want %q", raw, err, want)
	}
}
