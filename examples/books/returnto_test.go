package books_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/books"
)

func TestReturnToStaysHere(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/":                               true,
		"/settings/apps":                  true,
		"/oauth/authorize?state=a%2F%2Fb": true,
		"/device?user_code=ABCD-EFGH":     true,
		"/x?u=https://example.com/":       true,
		"":                                false,
		"settings":                        false,
		"//evil.example":                  false,
		"///evil.example":                 false, // Go sees no host here, and a browser does
		"/\\evil.example":                 false,
		"\\evil.example":                  false,
		"\\\\evil.example":                false,
		"https://evil.example":            false,
		"https:/evil.example":             false,
		"javascript:alert(1)":             false,
		"/\t/evil.example":                false,
		"/\n/evil.example":                false,
		"\t//evil.example":                false,
		" //evil.example":                 false,
		"/\x7f":                           false,
		"/\u0085/evil.example":            false,
		"/a\\..\\evil":                    false,
		"/%zz":                            false,
		"/" + strings.Repeat("a", 11<<10): true,
		"/" + strings.Repeat("b", 12<<10): false,
	} {
		if got := books.IsOwnPath(path); got != want {
			t.Errorf("isOwnPath(%q) = %v", path, got)
		}
	}
}
