package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// RFC 8414 section 3.3: the issuer that responds must be the one that was asked.
func TestDiscover(t *testing.T) {
	t.Parallel()
	const good = `{"issuer": "ISSUER", "authorization_endpoint": "a", "token_endpoint": "t", "revocation_endpoint": "r", "api_base_url": "b", "code_challenge_methods_supported": ["S256"]}`
	for name, test := range map[string]struct{ body, want string }{
		"good":              {good, ""},
		"somebody else":     {strings.Replace(good, "ISSUER", "https://evil.example", 1), "says that it is"},
		"no endpoint":       {strings.Replace(good, `"t"`, `""`, 1), "lacks an endpoint"},
		"no S256":           {strings.Replace(good, "S256", "plain", 1), "PKCE"},
		"no JSON":           {"<html>", "discovery"},
		"nothing that fits": {"[]", "discovery"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.Replace(test.body, "ISSUER", server.URL, 1)))
			}))
			defer server.Close()
			_, err := client.Discover(t.Context(), server.Client(), server.URL)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
