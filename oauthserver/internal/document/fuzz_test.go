package document_test

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
)

// CIMD-01: an accepted document URL satisfies the rules by a second implementation.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"https://tool.example/client.json", "https://tool.example:8443/a/b/?c=d", "https://tool.example/%2e%2e/x", "https://tool.example/a%2f..%2fb",
		"https://user@tool.example/x", "https://tool.example/x#y", "http://127.0.0.1/x", "https://[::1]/x", "https://2130706433/x", "https://tool.example//x//",
		`https://tool.example/a\..\b`, "HTTPS://TOOL.EXAMPLE/X", "https://tool.example/%zz", "https://tool.example/a;..;/b", "cli_1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !document.IsURL(raw, outbound.Policy{}) {
			return
		}
		if !strings.HasPrefix(raw, "https://") || strings.ContainsAny(raw, "#\\ \t\r\n\x00\"<>") || !utf8.ValidString(raw) {
			t.Fatalf("%q passed", raw)
		}
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Host == "" || u.Scheme != "https" || u.Fragment != "" || u.String() != raw {
			t.Fatalf("%q passed: %v", raw, err)
		}
		if !document.IsURL(raw, outbound.Policy{AllowLoopback: true}) {
			t.Fatalf("%q passes in production only", raw)
		}
		// Cleaning a path without dot segments changes slashes only.
		clean := func(p string) string { return strings.ReplaceAll(p, "/", "") }
		if got := path.Clean(u.Path); clean(got) != clean(u.Path) {
			t.Fatalf("%q has dot segments: cleaned %q", raw, got)
		}
	})
}

// FuzzFreshness: a document is kept for 30 s to 24 h, and no longer than one of
// the headers says (CIMD-02).
func FuzzFreshness(f *testing.F) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for _, seed := range [][4]string{
		{"max-age=60", "", "", ""}, {"max-age=60, max-age=70", "", "", ""}, {"no-store, max-age=9", "", "", ""}, {`s-maxage="3600"`, "10", "", ""},
		{"max-age=99999999999999999999", "-1", "", ""}, {"max-age=-5", "", "", ""}, {"", "", "Tue, 01 Sep 2026 13:00:00 GMT", "Tue, 01 Sep 2026 12:00:00 GMT"},
		{"", "99999999999", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"private=\"a, max-age=9\"", "", "0", ""}, {",,=,", "", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, control, age, expires, date string) {
		h := http.Header{}
		h.Set("Cache-Control", control)
		h.Set("Age", age)
		h.Set("Expires", expires)
		h.Set("Date", date)
		got := document.Freshness(h, now)
		if got < 30*time.Second || got > 24*time.Hour {
			t.Fatalf("%v", got)
		}
		until, err := http.ParseTime(expires)
		if from, dateErr := http.ParseTime(date); err == nil && dateErr == nil && !strings.Contains(strings.ToLower(control), "age") && !until.After(from) && got != 30*time.Second {
			t.Fatalf("it expired at %v, was sent at %v, and is kept for %v", until, from, got)
		}
		h.Set("Cache-Control", control+", no-store")
		if kept := document.Freshness(h, now); kept != 30*time.Second {
			t.Fatalf("no-store is kept for %v", kept)
		}
		h.Set("Cache-Control", control)
		h.Set("Age", "2147483648")
		if old := document.Freshness(h, now); old > got {
			t.Fatalf("an older response is kept longer: %v, %v", old, got)
		}
	})
}
