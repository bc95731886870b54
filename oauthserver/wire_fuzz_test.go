package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzEndpoints checks that OAuth endpoints respond to every body, content type and credential
// with an uncached client error in the OAuth shape (OERR-01 to OERR-03).
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
	k := newAPIHarness(f, unlimited, openRegistration)
	f.Fuzz(func(t *testing.T, path uint8, contentType, authorization, body string) {
		if strings.ContainsAny(contentType+authorization, "\r\n\x00") {
			return // no server hands those on
		}
		k := k.in(t)
		got := k.send(http.MethodPost, paths[int(path)%len(paths)], body, withHeader("Content-Type", contentType), withHeader("Authorization", authorization))
		if got.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d may be cached", got.Status)
		}
		switch {
		case got.Status == http.StatusOK || got.Status == http.StatusCreated:
		case got.Status == http.StatusBadRequest && got.text("error") != "" && got.text("error") != "invalid_client",
			got.Status == http.StatusUnauthorized && got.text("error") == "invalid_client":
			if strings.ContainsFunc(got.text("error_description"), func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
				t.Fatalf("error_description %q", got.text("error_description"))
			}
		default:
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		if challenged := got.Header.Get("WWW-Authenticate") != ""; challenged && (got.Status != http.StatusUnauthorized || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(authorization)), "basic")) {
			t.Fatalf("%d with the challenge %s", got.Status, got.Header.Get("WWW-Authenticate"))
		}
	})
}
