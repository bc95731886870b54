package sandbox

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzOptions: flags and variables are taken or refused with a usage error; a proxy that
// is trusted is a network.
func FuzzOptions(f *testing.F) {
	for _, seed := range [][2]string{
		{"-dev=false", ""}, {"-trusted-proxies=10.0.0.0/8,::1/128", ""}, {"-trusted-proxies=0.0.0.0/0", ""}, {"-trusted-proxies", "10.0.0.1"}, {"-x", ""}, {"--", "a"}, {"-api", "a:b:c"}, {"-help", ""}, {"-key=", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		args := []string{first}
		if second != "" {
			args = append(args, second)
		}
		variables := func(name string) string {
			if name == "PARTNERKIT_TRUSTED_PROXIES" {
				return second
			}
			return ""
		}
		o, err := parse(args, variables, io.Discard)
		if err != nil {
			if !errors.Is(err, errUsage) && !strings.Contains(err.Error(), "help requested") {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		for _, network := range o.proxies {
			if !network.IsValid() {
				t.Fatalf("%q trusts %v", args, network)
			}
		}
		if origin := normalOrigin(o.apiURL); normalOrigin(origin) != origin {
			t.Fatalf("%q has the normal form %q, and that %q", o.apiURL, origin, normalOrigin(origin))
		}
	})
}

// FuzzDevGuard: /dev responds to this machine alone: no other name, no proxy, no page of
// another origin.
func FuzzDevGuard(f *testing.F) {
	for _, seed := range [][3]string{
		{"localhost:8080", "", ""}, {"127.0.0.1", "", ""}, {"[::1]:80", "http://localhost:8080", ""}, {"[::01]", "", ""}, {"evil.example", "", ""}, {"localhost.evil.example", "", ""}, {"localhost:8080", "null", ""}, {"LOCALHOST", "", ""},
		{"127.0.0.1.nip.io", "", ""}, {"[::ffff:127.0.0.1]", "", ""}, {"localhost:8080", "", "cross-site"}, {"", "", ""}, {"[localhost]", "", ""}, {"localhost:8080:1", "", ""}, {"\xff", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := &server{apiURL: "http://localhost:8080", appURL: "http://localhost:8081"}
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequest(http.MethodGet, "/dev/clock", http.NoBody)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if s.guardDev(r) != nil {
			return
		}
		name := (&url.URL{Host: host}).Hostname()
		if !strings.EqualFold(name, "localhost") && !net.ParseIP(name).IsLoopback() {
			t.Fatalf("the host %q passed", host)
		}
		if origin != "" && origin != s.apiURL && origin != s.appURL || origin == "" && site != "" && site != "none" && site != "same-origin" {
			t.Fatalf("origin %q, site %q passed", origin, site)
		}
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		if s.guardDev(r) == nil {
			t.Fatal("a proxy passed")
		}
	})
}
