package uri

import (
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/text"
)

// MaxRedirect is the maximum length of a redirect URI.
const MaxRedirect = 512

// notInURI has the printable characters that RFC 3986 allows nowhere in a URI.
const notInURI = `\"<>^{|}` + "`"

// Rules are the rules for redirect URIs that depend on how an app is registered.
type Rules struct {
	AllowQuery         bool
	AllowPrivateScheme bool // one with a dot
	// PrivateUseSchemes are more private-use schemes, without a [SchemeProblem].
	PrivateUseSchemes []string
}

// Problem returns what is wrong with a redirect URI, such as "is not https"; empty if it may be
// registered.
func (rules Rules) Problem(raw string) string {
	switch {
	case raw == "":
		return "is empty"
	case len(raw) > MaxRedirect:
		return "is longer than 512 characters"
	case !text.IsVisible(raw) || strings.ContainsAny(raw, notInURI):
		return "has a character that a URI cannot have"
	case strings.Contains(raw, "#"):
		return "has a fragment"
	case strings.Contains(raw, "*"):
		return "has a wildcard"
	case strings.Contains(raw, "?") && !rules.AllowQuery:
		return "has a query"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "is not a URI"
	}
	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return "has user info"
	case u.Scheme == "https" || u.Scheme == "http":
		return webProblem(u)
	case rules.AllowPrivateScheme && strings.Contains(u.Scheme, ".") && u.Host == "":
		return ""
	case slices.Contains(rules.PrivateUseSchemes, u.Scheme):
		return privateUseProblem(u)
	}
	return "is not https"
}

// privateUseProblem accepts scheme://host/path and scheme:/path. The host is only a name here.
func privateUseProblem(u *url.URL) string {
	switch {
	case u.Opaque != "" || u.Host == "" && u.Path == "":
		return "has no path"
	case u.Host != "" && (!hasPlainHost(u) || u.Port() != ""):
		return "has no valid host"
	}
	return ""
}

// publicSchemes mean something to browsers or to every computer. None of them can be the
// scheme of one program.
var publicSchemes = []string{
	"about", "blob", "chrome", "chrome-extension", "cid", "content", "data", "feed", "file", "filesystem", "ftp", "http", "https", "intent", "jar",
	"javascript", "mailto", "ms-appx", "resource", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss",
}

// SchemeProblem returns what is wrong with a scheme, such as "does not belong to one program";
// empty if it can be a private-use scheme (RFC 8252 section 7.1).
func SchemeProblem(scheme string) string {
	switch {
	case scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "":
		return "is not a scheme in lower case, without a colon"
	case slices.Contains(publicSchemes, scheme):
		return "does not belong to one program"
	}
	return ""
}

// IsLocal reports whether a redirect URI leads to a program on the person's computer: to
// loopback, or to the program that has claimed a private-use scheme.
func IsLocal(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme != "https" && (u.Scheme != "http" || isLoopback(u.Hostname()))
}

func webProblem(u *url.URL) string {
	host := u.Hostname()
	switch {
	case u.Opaque != "" || host == "" || strings.HasSuffix(u.Host, ":"):
		return "has no host"
	case !isPort(u.Port()):
		return "has no valid port"
	case strings.HasPrefix(host, ".") || strings.HasPrefix(host, "-") || strings.Contains(host, "..") || !hasPlainHost(u):
		return "has no valid host"
	case u.Scheme == "http" && !isLoopback(host):
		return "is not https, nor http on loopback"
	}
	return ""
}

// IsRegistered reports whether the presented redirect URI equals a registered one byte for
// byte. With anyPort, the ports of two http URIs on loopback may differ (RFC 8252
// section 7.3).
func IsRegistered(registered []string, presented string, anyPort bool) bool { //nolint:revive // a property of the app, not a switch
	if slices.Contains(registered, presented) {
		return true
	}
	if !anyPort {
		return false
	}
	want, ok := withoutLoopbackPort(presented)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		have, ok := withoutLoopbackPort(r)
		return ok && have == want
	})
}

// withoutLoopbackPort removes the port of an http URI on loopback and changes no other
// byte. It reports false for any other URI.
func withoutLoopbackPort(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || u.User != nil || !isLoopback(u.Hostname()) || !isPort(u.Port()) {
		return "", false
	}
	rest, ok := strings.CutPrefix(raw, "http://"+u.Host)
	if !ok {
		return "", false
	}
	host := u.Host
	if port := u.Port(); port != "" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return "http://" + host + rest, true
}

// Response holds the parameters of an authorization response.
type Response struct {
	Parameter string // code=… or error=…, encoded
	State     []byte // of ShortenState; nil: none
	Issuer    string // empty: none (RFC 9207)
}

// Callback returns the address that a browser is sent back to: the redirect URI with its
// own query and the response.
func Callback(redirectURI string, r Response) string {
	separator := "?"
	if strings.Contains(redirectURI, "?") {
		separator = "&"
	}
	if strings.HasSuffix(redirectURI, "?") || strings.HasSuffix(redirectURI, "&") {
		separator = ""
	}
	location := redirectURI + separator + r.Parameter
	if r.State != nil {
		location += "&state=" + headerSafe(r.State)
	}
	if r.Issuer != "" {
		location += "&iss=" + url.QueryEscape(r.Issuer)
	}
	return location
}

const hexDigits = "0123456789ABCDEF"

// isHeaderSafe reports whether a Location header can have the byte.
func isHeaderSafe(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte("#"+notInURI, c) < 0
}

// headerSafe percent-encodes the bytes that a Location header cannot have. Bytes that are
// percent-encoded already stay as they are.
func headerSafe(raw []byte) string {
	var b strings.Builder
	for _, c := range raw {
		if !isHeaderSafe(c) {
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// ShortenState decodes what [Callback] encodes again: percent-encoded bytes that a Location
// header cannot have otherwise. A state of other than ASCII characters is stored at a third of
// the size that it has in a query.
func ShortenState(raw string) []byte {
	short := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '%' && i+2 < len(raw) {
			high, low := strings.IndexByte(hexDigits, raw[i+1]), strings.IndexByte(hexDigits, raw[i+2])
			if c := byte(high<<4 | low); high >= 0 && low >= 0 && !isHeaderSafe(c) { //nolint:gosec // two hexadecimal digits
				short = append(short, c)
				i += 2
				continue
			}
		}
		short = append(short, raw[i])
	}
	return short
}

// Distinct returns the values without repetitions, in their order.
func Distinct(values []string) []string {
	seen := make(map[string]bool, len(values))
	kept := make([]string, 0, len(values))
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			kept = append(kept, value)
		}
	}
	return kept
}
