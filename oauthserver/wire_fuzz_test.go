package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// FuzzEndpoints: whatever an OAuth endpoint is sent, by whatever content type and with
// whatever credentials, it answers in the OAuth shape, uncached, and blames the client
// (OERR-01 to OERR-03).
func FuzzEndpoints(f *testing.F) {
	const form, jsonBody = "application/x-www-form-urlencoded", "application/json"
	paths := []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/device/authorize", "/oauth/register"}
	for i := range paths {
		f.Add(uint8(i), form, "Basic "+"YTpi", "grant_type=refresh_token&refresh_token=a&client_id="+publicID)
		f.Add(uint8(i), form, "", "client_id=a&client_id=b&token=%00&scope=%ff")
		f.Add(uint8(i), form, "Bearer", "grant_type=authorization_code&code="+strings.Repeat("a", 600))
		f.Add(uint8(i), form+"; charset=latin1", "Bearer pk_reg_", strings.Repeat("a=&", 200))
		f.Add(uint8(i), jsonBody, "", `{"client_id":"`+publicID+`","scope":"internal:admin","resource":["a","b"]}`)
		f.Add(uint8(i), jsonBody, "", strings.Repeat("[", 2000))
		f.Add(uint8(i), "multipart/form-data; boundary=a", "", "--a--")
	}
	f.Add(uint8(0), form, "", "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=a.b.c&subject_token=&client_id="+confidentialID)
	f.Add(uint8(0), form, "", "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=a&client_id="+publicID)
	k := newAPIKit(f, unlimited, openRegistration)
	f.Fuzz(func(t *testing.T, path uint8, contentType, authorization, body string) {
		if strings.ContainsAny(contentType+authorization, "\r\n\x00") {
			return // no server hands those on
		}
		k := k.in(t)
		got := k.send(http.MethodPost, paths[int(path)%len(paths)], body, withHeader("Content-Type", contentType), withHeader("Authorization", authorization))
		if got.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d may be cached", got.status)
		}
		switch {
		case got.status == http.StatusOK || got.status == http.StatusCreated:
		case got.status == http.StatusBadRequest && got.text("error") != "" && got.text("error") != "invalid_client",
			got.status == http.StatusUnauthorized && got.text("error") == "invalid_client":
			if strings.ContainsFunc(got.text("error_description"), func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
				t.Fatalf("error_description %q", got.text("error_description"))
			}
		default:
			t.Fatalf("%d %s", got.status, got.raw)
		}
		if challenged := got.header.Get("WWW-Authenticate") != ""; challenged && (got.status != http.StatusUnauthorized || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(authorization)), "basic")) {
			t.Fatalf("%d with the challenge %s", got.status, got.header.Get("WWW-Authenticate"))
		}
	})
}

// FuzzDocumentFreshness: a document is kept for 30 s to 24 h, and no longer than one of
// the headers says (CIMD-02).
func FuzzDocumentFreshness(f *testing.F) {
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
		got := oauthserver.DocumentFreshness(h, now)
		if got < 30*time.Second || got > 24*time.Hour {
			t.Fatalf("%v", got)
		}
		until, err := http.ParseTime(expires)
		if from, dateErr := http.ParseTime(date); err == nil && dateErr == nil && !strings.Contains(strings.ToLower(control), "age") && !until.After(from) && got != 30*time.Second {
			t.Fatalf("it expired at %v, was sent at %v, and is kept for %v", until, from, got)
		}
		h.Set("Cache-Control", control+", no-store")
		if kept := oauthserver.DocumentFreshness(h, now); kept != 30*time.Second {
			t.Fatalf("no-store is kept for %v", kept)
		}
		h.Set("Cache-Control", control)
		h.Set("Age", "2147483648")
		if old := oauthserver.DocumentFreshness(h, now); old > got {
			t.Fatalf("an older answer is kept longer: %v, %v", old, got)
		}
	})
}
