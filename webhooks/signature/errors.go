package signature

import (
	"errors"
	"fmt"
)

// The errors of [Verifier.Verify]; match them with errors.Is. The signature is checked
// before the time, so only a sender with a valid signature can get ErrTooOld or ErrTooNew.
var (
	// ErrNoSignature means that there is no header, or an empty one.
	ErrNoSignature = errors.New("no " + Header + " header")
	// ErrMalformed means that the header does not have the form that a sender writes.
	ErrMalformed = errors.New("malformed " + Header + " header")
	// ErrNoMatch means that no v1 signature matches this body under any of the secrets.
	ErrNoMatch = errors.New("signature does not match")
	// ErrTooOld means that the signature is right, but was made too long ago.
	ErrTooOld = errors.New("signature is too old")
	// ErrTooNew means that the signature is right, but comes from the future: one
	// of the two clocks is wrong.
	ErrTooNew = errors.New("signature is from the future")
)

// malformed never quotes the header: it is untrusted, and errors are logged.
func malformed(why string) error { return fmt.Errorf("%w: %s", ErrMalformed, why) }
