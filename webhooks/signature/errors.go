package signature

import (
	"errors"
	"fmt"
)

// What [Verifier.Verify] refuses; match with errors.Is. The signature is judged
// before the time: only someone who has a valid one gets to read ErrTooOld or
// ErrTooNew.
var (
	// ErrNoSignature says that there is no header, or an empty one.
	ErrNoSignature = errors.New("no " + Header + " header")
	// ErrMalformed says that the header is not one that a sender writes.
	ErrMalformed = errors.New("malformed " + Header + " header")
	// ErrNoMatch says that no v1 was made from this body by one of the secrets.
	ErrNoMatch = errors.New("signature does not match")
	// ErrTooOld says that the signature is right, but was made too long ago.
	ErrTooOld = errors.New("signature is too old")
	// ErrTooNew says that the signature is right, but comes from the future: one
	// of the two clocks is wrong.
	ErrTooNew = errors.New("signature is from the future")
)

// malformed never quotes the header: it comes from anybody, and errors end in logs.
func malformed(why string) error { return fmt.Errorf("%w: %s", ErrMalformed, why) }
