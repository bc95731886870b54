package oauthserver

import (
	"errors"
	"net/url"
	"strings"
)

var errResource = errors.New("resource must be one absolute URI on the API origin")

// checkResource checks the values of the resource parameter (RFC 8707): none, or
// one absolute URI on the API origin, with any path and without a fragment. Its length
// is bounded by the request's, and at the authorize page by [MaxResource].
func (s *Server) checkResource(values []string) error {
	if len(values) == 0 {
		return nil
	}
	if len(values) > 1 {
		return errResource
	}
	if strings.ContainsFunc(values[0], func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errResource // url.Parse takes more than a URI may have
	}
	u, err := url.Parse(values[0])
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(values[0], "#") || originOf(u) != s.apiOrigin {
		return errResource
	}
	return nil
}

// originOf is scheme, host and port of a URL, in the form in which origins
// compare.
func originOf(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && !(scheme == "https" && port == "443") && !(scheme == "http" && port == "80") {
		host += ":" + port
	}
	return scheme + "://" + host
}
