package outbound

import (
	"errors"
	"net/http"
)

// ErrBodyTooLong says that a body has more bytes than the client reads.
var ErrBodyTooLong = errors.New("outbound: body too long")

// Response is an answer: its status decides, its body may be a part.
type Response struct {
	Status int
	Header http.Header

	// Body is what was read, as it was sent: never decompressed.
	Body []byte

	// BodyErr is nil when Body is whole, ErrBodyTooLong when it was cut at the
	// client's limit, and an *Error when it stalled or broke off.
	BodyErr error
}

// IsSuccess reports a 2xx status. A redirect is none.
func (r *Response) IsSuccess() bool { return r.Status >= 200 && r.Status <= 299 }

// Whole returns the body, or the error that left only a part of it, for callers to
// whom a part is of no use.
func (r *Response) Whole() ([]byte, error) {
	if r.BodyErr != nil {
		return nil, r.BodyErr
	}
	return r.Body, nil
}
