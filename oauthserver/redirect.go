package oauthserver

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// MaxRedirectURI is how long a redirect URI may be.
const MaxRedirectURI = 512

// LoopbackPorts says for which apps the port of a loopback redirect URI may
// differ from the registered one (RFC 8252 section 7.3).
type LoopbackPorts string

// The choices. Apps with a metadata document publish loopback URIs without a
// port, since they cannot know it; they are the default.
const (
	LoopbackPortsDocuments LoopbackPorts = ""
	LoopbackPortsOff       LoopbackPorts = "off"
	LoopbackPortsAll       LoopbackPorts = "all"
)

// RedirectRules are the rules for registering redirect URIs that differ between
// ways to register.
type RedirectRules struct {
	AllowQuery         bool
	AllowPrivateScheme bool // com.example.app:/… (RFC 8252 section 7.1)
}

// Check returns what is wrong with a redirect URI, fit for an error message; nil
// when it may be registered.
func (rules RedirectRules) Check(raw string) error {
	switch {
	case raw == "":
		return errors.New("is empty")
	case len(raw) > MaxRedirectURI:
		return errors.New("is longer than 512 characters")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`\"<>^{|}`+"`", r) }):
		return errors.New("has a character that a URI cannot have")
	case strings.Contains(raw, "#"):
		return errors.New("has a fragment")
	case strings.Contains(raw, "*"):
		return errors.New("has a wildcard")
	case strings.Contains(raw, "?") && !rules.AllowQuery:
		return errors.New("has a query")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("is not a URI")
	}
	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return errors.New("has user info")
	case u.Scheme == "https" || u.Scheme == "http":
		return checkWeb(u)
	case rules.AllowPrivateScheme && strings.Contains(u.Scheme, ".") && u.Host == "":
		return nil
	}
	return errors.New("is not https")
}

func checkWeb(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Opaque != "" || host == "" || strings.HasSuffix(u.Host, ":"):
		return errors.New("has no host")
	case !isPort(u.Port()):
		return errors.New("has no valid port")
	case strings.HasPrefix(host, ".") || strings.HasPrefix(host, "-") || strings.Contains(host, "..") || !hasPlainHost(u):
		return errors.New("has no valid host")
	case u.Scheme == "http" && !isLoopback(host):
		return errors.New("is not https, nor http on loopback")
	}
	return nil
}

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

// WebOrigin returns the origin of an http or https URL as a browser writes it: in lower
// case and without the default port. It reports false for any other URL, and for one with
// user info, an invalid port or a host of other than host characters: an origin that it
// returns can be put into a header.
func WebOrigin(raw string) (origin string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Opaque != "" || !hasPlainHost(u) || !isPort(u.Port()) {
		return "", false
	}
	return originOf(u), true
}

// isPort reports whether a URL's port, when it has one, is one that a browser can
// go to.
func isPort(port string) bool { return port == "" || outbound.IsPort(port) }

// isLoopback reports whether a host name without port names this very machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && !ip.Is4In6() && ip.IsLoopback()
}

// matchRedirect compares byte by byte; with anyPort the port of an http URI on
// loopback does not count.
func matchRedirect(registered []string, presented string, anyPort bool) bool {
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

// withoutLoopbackPort cuts the port out of an http URI on loopback, and leaves
// every other byte as it is.
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
