package guard

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// KeyLifetime is the default of how long a key repeats its response, counted from the request that
// gave it. At exactly this age the key is new again.
const KeyLifetime = 24 * time.Hour

// ErrKeyLost means that a request no longer owns its key: its lease ended and
// another request took the key over, or the key has its response already. The
// transaction of the request must not be committed.
var ErrKeyLost = errors.New("the Idempotency-Key belongs to another request or has its answer")

// KeyStore keeps idempotency keys. storage/sqlstore implements it. All methods
// are safe for concurrent use.
//
// A key is absent, running (it has an owner and a lease), or answered. It is
// owned by one request at a time, which the store picks with one conditional
// write; every later operation of that request is fenced by its owner token.
type KeyStore interface {
	// ClaimKey gives the key to the caller if the key is absent, older than its lifetime, or
	// held by an expired lease of the same request. Otherwise it changes nothing and returns
	// the state of the key.
	ClaimKey(ctx context.Context, claim KeyClaim) (KeyClaimed, error)

	// RenewKey moves the end of the lease. [ErrKeyLost] when the key is another's.
	RenewKey(ctx context.Context, owner KeyOwner, leaseEnds time.Time) error

	// FinishKey gives the key its response, once, inside tx; a nil tx means an operation
	// of its own. [ErrKeyLost] when the key is another's or has a response.
	FinishKey(ctx context.Context, tx storage.Tx, owner KeyOwner, response KeyResponse) error

	// ReleaseKey makes the key absent, if it is the owner's and has no response;
	// otherwise it does nothing.
	ReleaseKey(ctx context.Context, owner KeyOwner) error

	// Purge deletes a batch of records of the kind [storage.PurgeKeys], and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// KeyOwner is one request's hold on a key. The key belongs to a caller in a
// business: others may use the same text.
type KeyOwner struct {
	// CallerID is the id of the app; of a person with a session it is their id after
	// "user:".
	CallerID string

	BusinessID, Key string

	// Owner is random, and another one for every request.
	Owner string
}

// KeyTime is one moment on both clocks: lifetimes use the platform's clock, which can be
// moved; leases use the machine's clock.
type KeyTime struct {
	Now  time.Time // the platform's clock
	Real time.Time // the machine's
}

// KeyClaim is a request that wants to own a key.
type KeyClaim struct {
	KeyOwner
	Fingerprint [sha256.Size]byte // what is asked for: method, path, query and body
	At          KeyTime
	ExpiresAt   time.Time // on the platform's clock
	LeaseEnds   time.Time // on the machine's
}

// KeyState is how a claim ended.
type KeyState string

// The ends of a claim.
const (
	KeyOwned     KeyState = "owned"    // the key is the caller's
	KeyRunning   KeyState = "running"  // the same request is under way
	KeyResponded KeyState = "answered" // the same request has this response
	KeyMismatch  KeyState = "mismatch" // the key is another request's
)

// KeyClaimed is the result of a claim.
type KeyClaimed struct {
	State    KeyState
	Response KeyResponse // when State is KeyResponded
}

// KeyResponse is the response to a request.
type KeyResponse struct {
	Status int
	Header http.Header // the headers that describe the body
	Body   []byte

	// IsOmitted reports whether the body was too large to be kept.
	IsOmitted bool
}
