package signature

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Handler calls next only for requests that [Verifier.Verify] accepts, of any method; next
// can read the body again. Every other request gets a line of text:
//
//	400  the header is malformed, or the body broke off
//	401  no signature, one that does not match, or one from another time
//	413  the body has more than Config.MaxBody bytes
//
// The sender treats each of them as a failure and retries with a new signature. A request
// without a readable header is refused before its body is read. Set http.Server.ReadTimeout
// to limit the time for reading a body.
func (v *Verifier) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := v.read(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		verified := r.WithContext(r.Context()) // a copy: r is the caller's
		verified.Body = io.NopCloser(bytes.NewReader(body))
		verified.ContentLength = int64(len(body))
		next.ServeHTTP(w, verified)
	})
}

// read returns the verified body.
func (v *Verifier) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	// Several header lines are one list (RFC 9110 section 5.3), in which a second t is
	// malformed; a sender thus cannot choose which line counts.
	h, err := parseHeader(strings.Join(r.Header.Values(Header), ","))
	if err != nil {
		return nil, err
	}
	if r.ContentLength > v.maxBody {
		return nil, &http.MaxBytesError{Limit: v.maxBody}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, v.maxBody))
	if err != nil {
		return nil, err
	}
	return body, v.check(h, body)
}

func refuse(w http.ResponseWriter, err error) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
		return
	}
	switch {
	case errors.Is(err, ErrMalformed):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, ErrNoSignature), errors.Is(err, ErrNoMatch), errors.Is(err, ErrTooOld), errors.Is(err, ErrTooNew):
		w.Header().Set("WWW-Authenticate", Header) // RFC 9110 section 15.5.2 wants a challenge
		http.Error(w, err.Error(), http.StatusUnauthorized)
	default:
		http.Error(w, "body not readable", http.StatusBadRequest)
	}
}
