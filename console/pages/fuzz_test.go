package pages_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzForms: the response to any form on any page, and to any query, is a page, a redirect
// or a rejection with an alert, and never an internal error.
func FuzzForms(f *testing.F) {
	o := newHarness(f)
	own := "/apps/" + o.newApp().ID
	for i, route := range o.pages.Routes() {
		f.Add(uint8(i), "x", "", "")
		if route.Method == http.MethodPost {
			f.Add(uint8(i), "x", "", "name=a&name=b&type=PUBLIC&url=%00&events=x&key=A&choices=%0a%0a&minLength=-1&min=1e9999&from=2026-02-30&path=%5c&source=%7b&enabled=on&days=0&slug=%ff")
		}
	}
	f.Add(uint8(0), "x", "after=%00&days=99999999999999999999&done=%ff&;;", "")
	f.Fuzz(func(t *testing.T, which uint8, step, query, body string) {
		routes := o.pages.Routes()
		route := routes[int(which)%len(routes)]
		r := httptest.NewRequest(route.Method, appOrigin, strings.NewReader(body))
		r.URL.Path = o.prefix + parameter.ReplaceAllLiteralString(strings.Replace(route.Path, "/apps/{appId}", own, 1), step)
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(o.host.NewSession(ann, ""))
		w := httptest.NewRecorder()
		o.pages.ServeHTTP(w, r)
		switch page := w.Body.String(); {
		case w.Code >= 500, w.Code < 200:
			t.Fatalf("%s %s: %d %s", r.Method, r.URL, w.Code, page)
		case w.Code >= 400 && !strings.Contains(page, `role="alert"`) && !strings.HasPrefix(page, `{"statusCode":4`):
			t.Fatalf("%s %s: %d without an alert: %s", r.Method, r.URL, w.Code, page)
		}
		if to := w.Header().Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
			t.Fatalf("%s %s leads to %q", r.Method, r.URL, to)
		}
	})
}
