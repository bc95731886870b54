package outbound

import (
	"errors"
	"net/http"
)

// ErrBodyTooLong means that a body has more bytes than the client reads.
var ErrBodyTooLong = errors.New("outbound: body too long")

// Response is the response of a server. Its body may be incomplete.
type Response struct {
	Status int
	Header http.Header

	// Body holds the bytes that were read. They are not decompressed.
	Body []byte

	// BodyErr is nil when Body is complete, ErrBodyTooLong when it was cut at the
	// client's limit, and an *Error when it stalled or broke off.
	BodyErr error
}

// IsSuccess reports whether the status is 2xx.
func (r *Response) IsSuccess() bool { return r.Status >= 200 && r.Status <= 299 }

// Whole returns the body, or BodyErr if it is incomplete.
func (r *Response) Whole() ([]byte, error) {
	if r.BodyErr != nil {
		return nil, r.BodyErr
	}
	return r.Body, nil
}
