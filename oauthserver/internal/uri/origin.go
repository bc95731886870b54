// Package uri has the rules for the URIs of OAuth: redirect URIs, origins and resources.
package uri

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/internal/text"
)

// ParseOrigin returns the origin that raw names, in the form of [Origin]. Its error
// completes a sentence that begins with raw.
func ParseOrigin(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || !isPort(u.Port()) || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("is not an origin like https://api.example.com")
	}
	if !isSecure(u) {
		return "", errors.New("must be https, or http on loopback")
	}
	return Origin(u), nil
}

// Origin returns scheme, host and port of a URL as a browser writes an origin: in lower
// case, without the default port, and with an IPv6 address in its shortest form.
func Origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		if addr, err := netip.ParseAddr(host); err == nil && !addr.Is4In6() { // browsers write those in hexadecimal
			host = addr.String()
		}
		host = "[" + host + "]"
	}
	if port != "" && !(scheme == "https" && port == "443") && !(scheme == "http" && port == "80") {
		host += ":" + port
	}
	return scheme + "://" + host
}

// WebOrigin returns the origin of an http or https URL. It reports false for any other
// URL, and for one with user info, an invalid port or an unusual host: an origin that it
// returns can be written into a header.
func WebOrigin(raw string) (origin string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" || !isPlain(u) {
		return "", false
	}
	return Origin(u), true
}

// IsPage reports whether raw is the URL of a page: https, or http on loopback. A page of a
// host may name it in a header.
func IsPage(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && isPlain(u) && isSecure(u)
}

// CheckResource checks the values of the resource parameter (RFC 8707): none, or one
// absolute URI on the origin, with any path and without a fragment.
func CheckResource(values []string, origin string) error {
	if len(values) == 0 {
		return nil
	}
	bad := errors.New("resource must be one absolute URI on the API origin")
	if len(values) > 1 || !text.IsVisible(values[0]) { // url.Parse accepts characters that no URI has
		return bad
	}
	u, err := url.Parse(values[0])
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(values[0], "#") || Origin(u) != origin {
		return bad
	}
	return nil
}

// isSecure reports whether a URL is https, or http on loopback.
func isSecure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isPlain(u *url.URL) bool { return u.User == nil && hasPlainHost(u) && isPort(u.Port()) }

// hasPlainHost reports whether the host of a URL is an IPv6 address in brackets or consists
// of letters, digits, hyphens, dots and underscores. RFC 3986 allows more, but a semicolon
// or a comma in a host would end a directive of a Content-Security-Policy that names it.
func hasPlainHost(u *url.URL) bool {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		ip, err := netip.ParseAddr(host)
		return err == nil && ip.Is6() && ip.Zone() == ""
	}
	return host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") == ""
}

// isPort reports whether the port of a URL is empty or one that a browser can connect to.
func isPort(port string) bool { return port == "" || outbound.IsPort(port) }

// isLoopback reports whether a host, without a port, is on this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && !ip.Is4In6() && ip.IsLoopback()
}

// HasDotSegment reports whether the path has the segment "." or "..", even if its dots,
// slashes or backslashes are percent-encoded: a server on the way may decode them.
func HasDotSegment(escaped string) bool {
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
