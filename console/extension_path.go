package console

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/partnerkit/partnerkit/internal/text"
)

// isPageOf reports whether a path, resolved against an App URL, is a page on the App
// URL's origin.
//
// What counts is what a browser makes of it, which is the URL Standard of the WHATWG
// and not RFC 3986: "///evil.example" and "https:///evil.example" name a host there,
// and a backslash is a slash. So net/url must not decide. Without backslashes, spaces
// and characters that cannot be seen, which are refused, only two beginnings lead to another
// origin: a scheme, and two slashes before a host.
func isPageOf(appURL, path string) bool {
	base, err := url.Parse(appURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return false
	}
	if text.LineProblem(path) != "" || strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || unicode.IsSpace(r) }) {
		return false
	}
	if scheme, rest, ok := cutScheme(path); ok {
		if !strings.EqualFold(scheme, base.Scheme) {
			return false
		}
		path = rest // the same scheme says nothing: "https:page" is relative
	}
	if !strings.HasPrefix(path, "//") {
		return true
	}
	host := strings.TrimLeft(path, "/") // any number of slashes
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	// A host in another spelling is refused, one with user info too.
	return plainHost(base.Scheme, host) == plainHost(base.Scheme, base.Host)
}

// cutScheme splits off a scheme: a letter, then letters, digits, "+", "-" and ".", up
// to the colon.
func cutScheme(path string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(path, ":")
	isLetter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	if !ok || scheme == "" || !isLetter(rune(scheme[0])) {
		return "", path, false
	}
	for _, r := range scheme {
		if !isLetter(r) && !('0' <= r && r <= '9') && !strings.ContainsRune("+-.", r) {
			return "", path, false
		}
	}
	return scheme, rest, true
}

// plainHost returns a host and port without the default port.
func plainHost(scheme, host string) string {
	host = strings.ToLower(host)
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	if plain, ok := strings.CutSuffix(host, port); ok {
		return plain
	}
	return strings.TrimSuffix(host, ":")
}
