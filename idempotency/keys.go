// Package idempotency makes writes safe to repeat (draft-ietf-httpapi-idempotency-key-header):
// a request with an Idempotency-Key does its work once, and its repetitions get the same
// response. [Keys] is the middleware, and [Respond] sets the response of a write in the
// transaction of the write.
package idempotency

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/storage"
)

// ReplayedHeader marks a response that is repeated.
const ReplayedHeader = "Idempotency-Replayed"

const (
	// conflictWait is the Retry-After of a repetition while the first request runs.
	// Most requests are done by then.
	conflictWait = time.Second
	// settleTimeout bounds what is written about a key after its handler is done,
	// when the client may be gone.
	settleTimeout = 5 * time.Second
)

// Keys makes writes safe to repeat: of the requests of one app, or of one person
// with a session, in one business that carry the same Idempotency-Key, one does the work
// and the others get its response. Make it with [New]. It is safe for concurrent use.
//
// What a request with a key gets:
//
//   - the key is new: its handler runs;
//   - the same method, path, query and body got a response within [Config].Lifetime:
//     the same response again, byte for byte, with Idempotency-Replayed: true;
//   - they are still under way: 409 IDEMPOTENCY_CONFLICT with Retry-After;
//   - the key was used for something else: 422 IDEMPOTENCY_MISMATCH;
//   - the response was larger than MaxResponse: 409 IDEMPOTENCY_ANSWER_NOT_KEPT. The
//     work was done and is not done again.
//
// Only a response below 400 is kept, as it was sent, for its lifetime. After any
// other the key is new again, so that a corrected request can use it.
//
// A handler that sets its response with [Respond] does its work exactly once. A handler that
// writes its response itself is recorded when it is done: if the process dies between its
// commit and the record, the work is done again when the key is free again and the client
// repeats the request: see [Config.Lease].
//
// A write with a key costs one statement and one commit beside its handler's own,
// and one statement in the handler's transaction with [Respond], or one statement
// and one commit more without. A repetition costs two statements and one commit
// that changes nothing. A write without a key costs nothing.
type Keys struct {
	cfg     Config
	metrics keyMetrics
}

// New checks cfg and starts nothing: [Keys.Run] removes old keys.
func New(cfg Config) (*Keys, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	metrics, err := newKeyMetrics(cfg.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	return &Keys{cfg: cfg, metrics: metrics}, nil
}

// Wrap makes a handler's writes safe to repeat. It must run after the authorization of the
// call, whose [identity.Principal] it reads. The key is used for POST, PUT, PATCH and
// DELETE.
//
// A handler behind it may use [Respond]. Its body is in memory already when there
// is a key, and its own response is held back up to MaxResponse bytes, unless it
// flushes. Its context ends when the key was lost to another request.
func (i *Keys) Wrap(next apierror.Handler) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !isWrite(r.Method) {
			return next(w, r)
		}
		principal, _ := identity.PrincipalFrom(r.Context())
		if callerID(principal) == "" {
			return i.serveWithout(w, r, next)
		}
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		if key == "" {
			return i.serveWithout(w, r, next)
		}
		owner := keystore.Hold{CallerID: callerID(principal), BusinessID: principal.BusinessID, Key: key, Owner: rand.Text()}
		return i.serveWith(w, r, next, owner)
	}
}

// callerID returns the owner of a principal's keys; empty if it has none.
func callerID(p identity.Principal) string {
	switch p.SignIn {
	case identity.SignInOAuth:
		return p.AppID
	case identity.SignInSession:
		return keystore.UserCallerID(p.UserID)
	}
	return ""
}

// serveWithout serves a write that has no key.
func (i *Keys) serveWithout(w http.ResponseWriter, r *http.Request, next apierror.Handler) error {
	recorder := &responseRecorder{below: w, isPassing: true}
	call := &responding{cfg: &i.cfg, header: w.Header(), keep: i.keeper(r)}
	if err := next(recorder, r.WithContext(context.WithValue(r.Context(), respondingKey{}, call))); err != nil {
		return err
	}
	if call.response != nil {
		recorder.replace(*call.response)
	}
	return nil
}

// serveWith claims the key and does what the key asks for.
func (i *Keys) serveWith(w http.ResponseWriter, r *http.Request, next apierror.Handler, owner keystore.Hold) error {
	r, body, err := bodies.Buffer(r, i.cfg.MaxBody)
	if err != nil {
		return err
	}
	claimed, err := i.claim(r, owner, body)
	if err != nil {
		return err
	}
	switch claimed.State {
	case keystore.Owned:
		return i.serveFirst(w, r, next, owner)
	case keystore.Responded:
		i.metrics.replays.Add(r.Context(), 1)
		return replay(w, claimed.Response)
	case keystore.Mismatch:
		i.metrics.mismatches.Add(r.Context(), 1)
		return codes.IdempotencyMismatch.New()
	}
	i.metrics.conflicts.Add(r.Context(), 1)
	return conflict()
}

func (i *Keys) claim(r *http.Request, owner keystore.Hold, body []byte) (keystore.Claimed, error) {
	at := i.now()
	claimed, err := i.cfg.Store.ClaimKey(r.Context(), keystore.Claim{
		Hold: owner, Fingerprint: fingerprint(r, body), At: at,
		ExpiresAt: at.Now.Add(i.cfg.Lifetime), LeaseEnds: at.Real.Add(i.cfg.Lease),
	})
	switch {
	case err == nil:
		return claimed, nil
	case errors.Is(err, storage.ErrBusy): // it never ran
		return keystore.Claimed{}, apierror.Unavailable(err).WithRetryAfter(conflictWait)
	}
	// The claim may have been committed despite the error. No work was done under it.
	i.release(r.Context(), owner)
	return keystore.Claimed{}, fmt.Errorf("idempotency: claim the Idempotency-Key: %w", err)
}

func replay(w http.ResponseWriter, response keystore.Response) error {
	if response.IsOmitted {
		return codes.ResponseNotKept.New()
	}
	w.Header().Set(ReplayedHeader, "true")
	writeResponse(w, response)
	return nil
}

func conflict() *apierror.Error {
	return codes.IdempotencyConflict.New().WithRetryAfter(conflictWait)
}

func (i *Keys) keeper(r *http.Request) keeper {
	principal, _ := identity.PrincipalFrom(r.Context())
	return keeper{names: i.cfg.KeepHeaders, versionHeader: i.cfg.VersionHeader, version: principal.Version}
}

// now is read once a request.
func (i *Keys) now() keystore.Time {
	return keystore.Time{Now: i.cfg.Clock.Now(), Real: time.Now()}
}
