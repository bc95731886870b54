package idempotency

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
)

// serveFirst runs the handler of a request that owns its key, and settles the
// key: answered when the work was done, new again when it was not.
func (i *Keys) serveFirst(w http.ResponseWriter, r *http.Request, next apierror.Handler, owner keystore.Hold) error {
	ctx, lose := context.WithCancelCause(r.Context())
	defer lose(nil)
	endLease := i.holdLease(ctx, owner, lose)

	// Release the key unless the work was done: after a failure, and after a panic, which
	// continues to the caller that recovers. The store keeps a key that has a response, so a
	// failure after Respond's commit releases nothing.
	isDone := false
	defer func() {
		endLease()
		if !isDone {
			i.release(r.Context(), owner)
		}
	}()

	keep := i.keeper(r)
	recorder := &responseRecorder{below: w, keep: keep, limit: i.cfg.MaxResponse}
	call := &responding{cfg: &i.cfg, owner: &owner, header: w.Header(), keep: keep}
	err := next(recorder, r.WithContext(context.WithValue(ctx, respondingKey{}, call)))
	if err == nil {
		err = call.err // a handler that continues after a failed Respond has failed
	}
	switch {
	case err != nil:
		return lostMeansConflict(ctx, err)
	case recorder.hasFailed():
		recorder.deliver()
		return nil
	case call.response != nil:
		isDone = true
		recorder.replace(*call.response)
		return nil
	}
	isDone = true
	endLease()
	i.record(r.Context(), owner, recorder.response())
	recorder.deliver()
	return nil
}

// lostMeansConflict turns the loss of the key into a conflict, so that the client retries
// and gets the response of the request that took over.
func lostMeansConflict(ctx context.Context, err error) error {
	if errors.Is(err, keystore.ErrLost) || errors.Is(context.Cause(ctx), keystore.ErrLost) {
		return conflict().WithCause(err)
	}
	return err
}

// record finishes the key of a handler that did not use Respond. Its work is done,
// so the client gets its response even if this fails.
func (i *Keys) record(ctx context.Context, owner keystore.Hold, response keystore.Response) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := i.cfg.Store.FinishKey(ctx, nil, owner, response); err != nil {
		i.cfg.Logger.ErrorContext(ctx, "idempotency: recording a response failed, a repeated request may write again",
			"caller_id", owner.CallerID, "business_id", owner.BusinessID, "err", err)
	}
}

// release makes the key new again, even if the client has disconnected.
func (i *Keys) release(ctx context.Context, owner keystore.Hold) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := i.cfg.Store.ReleaseKey(ctx, owner); err != nil {
		i.cfg.Logger.WarnContext(ctx, "idempotency: releasing a key failed, it is free when its lease ends",
			"caller_id", owner.CallerID, "business_id", owner.BusinessID, "err", err)
	}
}
