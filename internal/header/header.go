// Package header reads HTTP headers that more than one package needs.
package header

import (
	"mime"
	"net/http"
	"strings"
)

// Authorization returns the credentials of the Authorization header for a scheme, and
// whether there is a header with that scheme. If a request has more than one Authorization
// header, the credentials are empty, because another reader might use another header.
func Authorization(h http.Header, scheme string) (credentials string, found bool) {
	values := h.Values("Authorization")
	for _, value := range values {
		name, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		switch {
		case !strings.EqualFold(name, scheme):
			continue
		case len(values) > 1:
			return "", true
		}
		return strings.TrimLeft(rest, " "), true
	}
	return "", false
}

// MediaType returns the media type of the body in lower case, without parameters; empty if
// there is none or it cannot be read.
func MediaType(h http.Header) string {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// UTF8Type returns the media type of a body that every reader decodes in the same way: with
// one Content-Type, in UTF-8 and without a content coding. For any other body it is empty.
func UTF8Type(h http.Header) string {
	coding := strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ","))
	if len(h.Values("Content-Type")) != 1 || coding != "" && !strings.EqualFold(coding, "identity") {
		return ""
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if charset, ok := params["charset"]; err != nil || ok && !strings.EqualFold(charset, "utf-8") {
		return ""
	}
	return media
}
