package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
)

// KeyHeader names a write, so that sending it again does not do it
// again.
const KeyHeader = "Idempotency-Key"

// maxKeyLength is in characters, which are all of one byte.
const maxKeyLength = 255

// isWrite reports whether the method takes an Idempotency-Key.
func isWrite(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// keyOf returns the key of a request, empty when it sends none. The
// key goes into the database as text, and two programs must read it alike, so it
// is printable ASCII.
func keyOf(r *http.Request) (string, error) {
	values := r.Header.Values(KeyHeader)
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", apierror.InvalidAt("Idempotency-Key", "is given more than once")
	case len(values[0]) < 1 || len(values[0]) > maxKeyLength || !text.IsPrintable(values[0]):
		return "", apierror.InvalidAt("Idempotency-Key", "must have 1 to 255 printable ASCII characters")
	}
	return values[0], nil
}

// fingerprint returns the same for two requests that ask for the same: method, path,
// query and body, as they were sent. Each part goes in with its length, so that
// none can pass for the beginning of the next.
func fingerprint(r *http.Request, body []byte) [sha256.Size]byte {
	hash := sha256.New()
	for _, part := range [][]byte{[]byte(r.Method), []byte(r.URL.EscapedPath()), []byte(r.URL.RawQuery), body} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
