package outbound

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxURL is the longest URL that [Policy.ParseURL] takes, in bytes.
const MaxURL = 2048

// URLError tells the person who entered a URL what is wrong with it. It does not repeat
// the URL, which may contain a password.
type URLError struct {
	Problem string // such as "must use https"
}

// Error returns the problem with its subject in front.
func (e *URLError) Error() string { return "url " + e.Problem }

// ParseURL checks a URL when it is saved and returns it parsed; every error is a
// [*URLError]. The addresses of its host are checked when they are dialled, since names
// can change their addresses.
//
// It accepts absolute https URLs with a host and refuses user info, fragments,
// spaces, control characters, backslashes, anything outside ASCII, ports that
// [IsPort] refuses, IP addresses that [Policy.Check] refuses, IPv4 addresses in any
// spelling but four decimal numbers, and the names of this machine. With
// AllowLoopback it accepts localhost and loopback addresses, over http too.
func (p Policy) ParseURL(raw string) (*url.URL, error) {
	u, problem := p.parse(raw)
	if problem != "" {
		return nil, &URLError{Problem: problem}
	}
	return u, nil
}

func (p Policy) parse(raw string) (_ *url.URL, problem string) {
	if problem := checkText(raw); problem != "" {
		return nil, problem
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, "cannot be parsed"
	case u.Scheme == "":
		return nil, "must be absolute and begin with https://"
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "must use https"
	case u.User != nil:
		return nil, "must not contain user info"
	case u.Opaque != "" || u.Hostname() == "":
		return nil, "must have a host"
	}
	if problem := checkPort(u); problem != "" {
		return nil, problem
	}
	loopback, problem := p.checkHost(u)
	if problem != "" {
		return nil, problem
	}
	if u.Scheme == "http" && !loopback {
		return nil, "must use https"
	}
	return u, ""
}

// checkText refuses bytes that URL parsers treat differently.
func checkText(raw string) (problem string) {
	switch {
	case raw == "":
		return "must not be empty"
	case len(raw) > MaxURL:
		return "must not be longer than " + strconv.Itoa(MaxURL) + " bytes"
	}
	for _, b := range []byte(raw) {
		switch {
		case b <= ' ' || b == 0x7f:
			return "must not contain spaces or control characters"
		case b == '\\':
			return "must not contain a backslash"
		case b >= 0x80:
			return "must be ASCII: write the host in punycode and percent-encode the rest"
		case b == '#':
			return "must not contain a fragment"
		}
	}
	return ""
}

func checkPort(u *url.URL) (problem string) {
	port := u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		return ""
	}
	if !IsPort(port) {
		return "must have a port from 1 to 65535, without leading zeros"
	}
	return ""
}

// IsPort reports whether the text is a port number from 1 to 65535 without leading zeros.
func IsPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] >= '1' && text[0] <= '9'
}

// checkHost reports whether the host is this machine, or what is wrong with it.
func (p Policy) checkHost(u *url.URL) (loopback bool, problem string) {
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	switch {
	case strings.HasPrefix(u.Host, "[") != (err == nil && addr.Is6()):
		return false, "must have a valid IPv6 address in brackets"
	case err == nil && addr.Zone() != "":
		return false, "must not have a zone in its address"
	case err == nil && p.Check(addr) != nil:
		return false, "must not name an address that is not public"
	case err == nil:
		return addr.Unmap().IsLoopback(), ""
	}
	if problem := checkName(host); problem != "" {
		return false, problem
	}
	if isLocalhost(host) && !p.AllowLoopback {
		return false, "must not name this machine"
	}
	return isLocalhost(host), ""
}

// checkName allows the letters, digits and hyphens of DNS, and the underscore, which is in
// use. Some resolvers read a name whose last label is a number in any base as an IPv4
// address (2130706433, 0x7f.1, 0177.0.0.1, 127.1). No top-level domain begins with a digit,
// so a last label that does is refused.
func checkName(host string) (problem string) {
	name := strings.TrimSuffix(host, ".")
	if len(name) > 253 {
		return "must not have a host longer than 253 characters"
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "must have a host of labels with 1 to 63 characters"
		}
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return "must have a host of letters, digits, hyphens and dots"
		}
		last = label
	}
	if last[0] >= '0' && last[0] <= '9' {
		return "must write an IPv4 address as four decimal numbers"
	}
	return ""
}

// isLocalhost recognises the names that RFC 6761 6.3 reserves for loopback.
func isLocalhost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
