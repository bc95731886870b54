package books

import (
	"net/url"
	"strings"
)

// maxReturnTo leaves room for the longest authorization request (see oauthserver.Host.SignIn).
const maxReturnTo = 12 << 10

// isOwnPath reports whether a browser that is sent there stays on this host:
// browsers read // and \ as the beginning of another one, and drop tabs and line
// breaks before they look.
func isOwnPath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || len(path) > maxReturnTo {
		return false
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '\\' || r >= 0x7f && r <= 0x9f }) {
		return false
	}
	u, err := url.Parse(path)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil
}
