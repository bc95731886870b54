package bodies

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/header"
)

// MaxForm is the size limit of forms, in bytes. Use it for JSON bodies of OAuth endpoints too.
const MaxForm = 64 << 10

// Read returns the body of a request that must have the media type want. An
// empty body needs no type. At most limit+1 bytes are read. see is given the bytes as
// they arrive; reading stops at its first error. A nil see sees nothing.
func Read(r *http.Request, want string, limit int64, see func([]byte) error) ([]byte, error) {
	hasType := len(r.Header.Values("Content-Type")) > 0
	if hasType && header.UTF8Type(r.Header) != want {
		return nil, apierror.UnsupportedMediaType(want)
	}
	body, err := readBytes(r, limit, see)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 && !hasType {
		return nil, apierror.UnsupportedMediaType(want)
	}
	if !utf8.Valid(body) {
		return nil, apierror.Invalid("the body must be UTF-8")
	}
	return body, nil
}

// readBytes returns the body of a request.
func readBytes(r *http.Request, limit int64, see func([]byte) error) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, apierror.TooLarge(limit)
	}
	if r.Body == nil {
		return nil, nil
	}
	if read, ok := r.Body.(*bufferedBody); ok && read.Len() == len(read.data) {
		if int64(len(read.data)) > limit {
			return nil, apierror.TooLarge(limit)
		}
		if see == nil {
			return read.data, nil
		}
		return read.data, see(read.data)
	}
	return readAll(r.Body, r.ContentLength, limit, see)
}

// ReadAll reads from body to its end, for bodies that are neither JSON nor forms.
// announced is how many bytes there will be at most, negative when that is not known.
// Its memory doubles until it has that size, so it is bounded by what has arrived. The
// error is an [Error]: 413 for more than limit bytes, or a 400 for a body that breaks off.
func ReadAll(body io.Reader, announced, limit int64) ([]byte, error) {
	return readAll(body, announced, limit, nil)
}

func readAll(from io.Reader, announced, limit int64, see func([]byte) error) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), nextSize(len(body), announced, limit))
			copy(grown, body)
			body = grown
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if see != nil {
			if err := see(body[len(body)-n:]); err != nil {
				return nil, err
			}
		}
		tooLarge, isTooLarge := errors.AsType[*http.MaxBytesError](err)
		switch {
		case int64(len(body)) > limit:
			return nil, apierror.TooLarge(limit)
		case errors.Is(err, io.EOF):
			return body, nil
		case isTooLarge:
			return nil, apierror.TooLarge(min(limit, tooLarge.Limit))
		case err != nil:
			return nil, apierror.Invalid("the body could not be read to its end").WithCause(err)
		}
	}
}

// nextSize returns the capacity of the buffer after one of size bytes was filled. One byte
// more than announced, or than allowed, shows that the body ends there or does not.
func nextSize(size int, announced, limit int64) int {
	const first = 4 << 10
	next := int64(max(first, 2*size))
	for _, most := range []int64{announced + 1, limit + 1} {
		if int64(size) < most {
			next = min(next, most)
		}
	}
	return int(next)
}

// Buffer reads the whole body, of at most limit bytes, and returns it with a request
// whose body can still be read. [Read] does not copy the body of such a request. The error is one of apierror: 413, or a 400 for a body that breaks off.
func Buffer(r *http.Request, limit int64) (*http.Request, []byte, error) {
	body, err := readBytes(r, limit, nil)
	if err != nil {
		return nil, nil, err
	}
	again := *r
	if r.Body != nil {
		again.Body = &bufferedBody{Reader: bytes.NewReader(body), data: body, Closer: r.Body}
	}
	return &again, body, nil
}

// bufferedBody is a body that was read before. Closing it closes the real one.
type bufferedBody struct {
	*bytes.Reader
	io.Closer
	data []byte
}
