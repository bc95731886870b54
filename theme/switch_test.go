package theme_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/theme"
)

// The form keeps the chosen scheme in a cookie and leads back, to pages of the own host only.
func TestServeSwitch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ chosen, back, cookie, kept, to string }{
		{"dark", "/developer/apps/app_1?x=1", "dark", "dark", "/developer/apps/app_1?x=1"},
		{"light", "//evil.example/", "light", "light", "/"},
		{"system", "https://evil.example/", "", "", "/"},
		{"dark", `/\evil.example`, "dark", "dark", "/"},
		{"dark", "", "dark", "dark", "/"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/theme", strings.NewReader(url.Values{"theme": {test.chosen}, "back": {test.back}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if err := theme.ServeSwitch(w, r); err != nil {
			t.Errorf("%s: %v", test.chosen, err)
			continue
		}
		cookie := w.Result().Cookies()[0]
		next := httptest.NewRequest(http.MethodGet, "/", nil)
		next.AddCookie(cookie)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != test.to || cookie.Value != test.cookie || !cookie.HttpOnly || theme.Chosen(next) != test.kept {
			t.Errorf("%+v: %d %v %v", test, w.Code, w.Header(), cookie)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/theme", strings.NewReader("theme=pink"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := theme.ServeSwitch(httptest.NewRecorder(), r); err == nil || !strings.Contains(err.Error(), "theme") {
		t.Errorf("pink: %v", err)
	}
	r = httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: "theme", Value: `dark"><script>`})
	if got := theme.Chosen(r); got != "" {
		t.Errorf("chosen %q", got)
	}
}
