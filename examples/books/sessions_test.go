package books_test

import (
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/examples/books"
)

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url, domain, name string
		secure            bool
	}{
		{"http://localhost:8081", "", "books_session", false},
		{"https://app.example.com", "", "__Host-books_session", true},
		{"https://app.example.com", "example.com", "__Secure-books_session", true},
	} {
		c := books.SessionCookie(test.url, test.domain)
		if c.Name != test.name || c.Secure != test.secure || c.Domain != test.domain || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("%s %s: %+v", test.url, test.domain, c)
		}
	}
}
