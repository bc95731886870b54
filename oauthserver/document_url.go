package oauthserver

import (
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// isDocumentURL reports whether a client_id is the URL of a client metadata
// document: https, a host, a path that is more than "/", no fragment, no user
// info, no dot segments, in one spelling only. The policy decides about hosts, and
// whether http on loopback will do.
func isDocumentURL(raw string, policy outbound.Policy) bool {
	if !strings.HasPrefix(raw, "https://") && !strings.HasPrefix(raw, "http://") {
		return false
	}
	// What no URI contains (RFC 3986 section 2), and parsers repair in their ways.
	if strings.ContainsAny(raw, `"<>^{|}`+"`") {
		return false
	}
	u, err := policy.ParseURL(raw)
	if err != nil || u.String() != raw {
		return false
	}
	return len(u.Path) > 1 && !hasDotSegment(u.EscapedPath())
}

// hasDotSegment looks for "." and ".." between slashes, also when dots, slashes or
// backslashes are percent-encoded: some server on the way decodes them.
func hasDotSegment(escaped string) bool {
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return true
	}
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
