package document

import (
	"strings"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
)

// IsURL reports whether a client_id is the URL of a client metadata document: https, a host,
// a path other than "/", no fragment, no user info, no dot segments, and in normal form. The
// policy selects the hosts, and whether http on loopback is allowed.
func IsURL(clientID string, policy outbound.Policy) bool {
	if !strings.HasPrefix(clientID, "https://") && !strings.HasPrefix(clientID, "http://") {
		return false
	}
	// No URI has these characters (RFC 3986 section 2), and parsers differ in how they
	// repair them.
	if strings.ContainsAny(clientID, `"<>^{|}`+"`") {
		return false
	}
	u, err := policy.ParseURL(clientID)
	if err != nil || u.String() != clientID {
		return false
	}
	return len(u.Path) > 1 && !uri.HasDotSegment(u.EscapedPath())
}
