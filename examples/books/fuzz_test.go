package books_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/books"
)

// FuzzReturnTo checks that a return path never leads a browser to another host.
func FuzzReturnTo(f *testing.F) {
	for _, seed := range []string{
		"/", "/a?b=c#d", "//evil.example", "/\\evil.example", "/\t/evil.example", "\\\\evil", "https://evil.example", "/a//b", "/%2f%2fevil.example", "/..//evil.example", "javascript:1", "",
		"/\x00", "/\u2028", "/a:b@c", "/?//evil", "/./\r\n/evil", "/;//evil",
	} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "app.example.com", Path: "/login"}
	f.Fuzz(func(t *testing.T, path string) {
		if !books.IsOwnPath(path) {
			return
		}
		// What browsers do before they look (WHATWG URL 4.4): no tabs and line breaks, and \ is /.
		read := strings.NewReplacer("\t", "", "\r", "", "\n", "", "\\", "/").Replace(strings.TrimSpace(path))
		u, err := base.Parse(read)
		if err != nil || u.Host != base.Host || u.Scheme != "https" || u.User != nil || strings.HasPrefix(read, "//") {
			t.Fatalf("%q leads to %v: %v", path, u, err)
		}
		w := httptest.NewRecorder()
		http.Redirect(w, httptest.NewRequest(http.MethodPost, base.String(), http.NoBody), path, http.StatusSeeOther)
		if to := w.Header().Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") || strings.ContainsAny(to, "\r\n\x00") {
			t.Fatalf("%q redirects to %q", path, to)
		}
	})
}

// FuzzCookies checks that at most four session cookies are looked up, and only those of
// our form.
func FuzzCookies(f *testing.F) {
	for _, seed := range []string{"", "books_session=a", "books_session=" + "pk_ses_" + strings.Repeat("a", 43), strings.Repeat("books_session=pk_ses_"+strings.Repeat("b", 43)+"; ", 20), "books_session=\"\x00\"", ";;;=", "books_session"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cookies string) {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header["Cookie"] = []string{cookies}
		found := books.CountSessions("http://localhost", r)
		if n := strings.Count(cookies, "pk_ses_"); found > 4 || found > n {
			t.Fatalf("%d sessions of %q", found, cookies)
		}
	})
}

// FuzzPasswordHash: only a hash of the password matches the password. A malformed hash is an
// error or matches no password.
func FuzzPasswordHash(f *testing.F) {
	const password = "correct horse" //nolint:gosec // of the test
	hash := books.HashPassword(password)
	for _, seed := range []string{hash, "", hash[:len(hash)-1], books.PHCPrefix, books.PHCPrefix + "$", books.PHCPrefix + "AAAA$AAAA", strings.Replace(hash, "t=2", "t=999999", 1), strings.Replace(hash, "m=", "m=9", 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		ok, _ := books.IsPassword(given, password)
		if given == hash && !ok {
			t.Fatal("the hash of the password is not taken")
		}
		// Other processes that fuzz have hashed the same, each with its own salt.
		if also, _ := books.IsPassword(given, password+"x"); ok && (also || !strings.HasPrefix(given, books.PHCPrefix)) {
			t.Fatalf("%q passed", given)
		}
	})
}
