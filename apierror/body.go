package apierror

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Sizes of bodies, in bytes, where limits do not say otherwise.
const (
	// DefaultBodyLimit holds for JSON bodies of the API and the console.
	DefaultBodyLimit = 1 << 20
	// OAuthBodyLimit holds for forms, and is the limit to give for JSON bodies
	// of OAuth endpoints.
	OAuthBodyLimit = 64 << 10
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// MediaType returns the media type of the body in lower case, without
// parameters; empty when there is none or it cannot be read. It is for endpoints
// that take both JSON and forms.
func MediaType(r *http.Request) string {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// readBody returns the body of a request that must have the media type want. An
// empty body needs no type. At most limit+1 bytes are read.
func readBody(r *http.Request, want string, limit int64) ([]byte, error) {
	hasType := len(r.Header.Values("Content-Type")) > 0
	if hasType && !isUTF8Body(r, want) {
		return nil, UnsupportedMediaType(want)
	}
	if r.ContentLength > limit {
		return nil, TooLarge(limit)
	}
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, TooLarge(tooLarge.Limit)
	}
	if err != nil {
		return nil, Invalid("the body could not be read to its end").WithCause(err)
	}
	if int64(len(body)) > limit {
		return nil, TooLarge(limit)
	}
	if len(body) > 0 && !hasType {
		return nil, UnsupportedMediaType(want)
	}
	if !utf8.Valid(body) {
		return nil, Invalid("the body must be UTF-8")
	}
	return body, nil
}

// isUTF8Body refuses what two readers could understand differently: two types,
// another charset, a content encoding.
func isUTF8Body(r *http.Request, want string) bool {
	if len(r.Header.Values("Content-Type")) != 1 {
		return false
	}
	if sent := r.Header.Get("Content-Type"); sent != want {
		media, params, err := mime.ParseMediaType(sent)
		if err != nil || media != want {
			return false
		}
		if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
			return false
		}
	}
	encoding := strings.Join(r.Header.Values("Content-Encoding"), ",")
	return encoding == "" || strings.EqualFold(strings.TrimSpace(encoding), "identity")
}
