// Package keystore is what package idempotency asks of a store. Authors of stores implement
// [Store]; hosts need no name of it but [ErrLost].
package keystore

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// Lifetime is the default of how long a key repeats its response, counted from the request that
// gave it. At exactly this age the key is new again.
const Lifetime = 24 * time.Hour

// ErrLost means that a request no longer owns its key: its lease ended and
// another request took the key over, or the key has its response already. The
// transaction of the request must not be committed.
var ErrLost = errors.New("the Idempotency-Key belongs to another request or has its answer")

// Store keeps idempotency keys. storage/sqlstore implements it. All methods
// are safe for concurrent use.
//
// A key is absent, running (it has an owner and a lease), or answered. It is
// owned by one request at a time, which the store picks with one conditional
// write; every later operation of that request is fenced by its owner token.
type Store interface {
	// ClaimKey gives the key to the caller if the key is absent, older than its lifetime, or
	// held by an expired lease of the same request. Otherwise it changes nothing and returns
	// the state of the key.
	ClaimKey(ctx context.Context, claim Claim) (Claimed, error)

	// RenewKey moves the end of the lease. [ErrLost] when the key is another's.
	RenewKey(ctx context.Context, owner Hold, leaseEnds time.Time) error

	// FinishKey gives the key its response, once, inside tx; a nil tx means an operation
	// of its own. [ErrLost] when the key is another's or has a response.
	FinishKey(ctx context.Context, tx storage.Tx, owner Hold, response Response) error

	// ReleaseKey makes the key absent, if it is the owner's and has no response;
	// otherwise it does nothing.
	ReleaseKey(ctx context.Context, owner Hold) error

	// Purge deletes a batch of records of the kind [storage.PurgeKeys], and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Hold is one request's hold on a key. The key belongs to a caller in a
// business: others may use the same text.
type Hold struct {
	// CallerID is the id of the app; of a person with a session it is their id after
	// "user:".
	CallerID string

	BusinessID, Key string

	// Owner is random, and another one for every request.
	Owner string
}

// Time is one moment on both clocks: lifetimes use the platform's clock, which can be
// moved; leases use the machine's clock.
type Time struct {
	Now  time.Time // the platform's clock
	Real time.Time // the machine's
}

// Claim is a request that wants to own a key.
type Claim struct {
	Hold
	Fingerprint [sha256.Size]byte // what is asked for: method, path, query and body
	At          Time
	ExpiresAt   time.Time // on the platform's clock
	LeaseEnds   time.Time // on the machine's
}

// State is how a claim ended.
type State string

// The ends of a claim.
const (
	Owned     State = "owned"    // the key is the caller's
	Running   State = "running"  // the same request is under way
	Responded State = "answered" // the same request has this response
	Mismatch  State = "mismatch" // the key is another request's
)

// Claimed is the result of a claim.
type Claimed struct {
	State    State
	Response Response // when State is Responded
}

// Response is the response to a request.
type Response struct {
	Status int
	Header http.Header // the headers that describe the body
	Body   []byte

	// IsOmitted reports whether the body was too large to be kept.
	IsOmitted bool
}

// UserCallerID returns the [Hold.CallerID] of the keys that a user claims by a session.
func UserCallerID(userID string) string { return "user:" + userID }
