package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/storage"
)

// Answer sets the response of a write, in the transaction of the write: both are committed
// or neither is. The handler commits, writes nothing itself and returns nil; the client
// then gets this response. If the request has an Idempotency-Key, every repetition within
// [KeyLifetime] gets the same response, even if the process died, or the handler failed,
// right after the commit.
//
// tx is the transaction that the handler opened and writes with: of the store's
// BeginTx, storage.SQL of a *sql.Tx, or postgres.Pgx of a pgx.Tx, on the database
// of the store. On PostgreSQL make Answer the last statement before the commit:
// repetitions that come in between wait for it. A transaction that is run again
// calls Answer again; the last call counts.
//
// status is 200 to 399; to send another status, return an error instead, which rolls back.
// body is encoded as JSON; nil means no body. Set Location and other headers before the
// call.
//
// An error means that the transaction must be rolled back and the error
// returned. [ErrKeyLost] is one such error: this request was presumed dead, and
// another request is doing its work or has done it. The response asks the client
// to retry.
//
// With a key it costs one statement and no commit; without one it costs nothing.
// Outside of a POST, PUT, PATCH or DELETE that [Idempotency.Wrap] serves it is
// an error.
func Answer(ctx context.Context, tx storage.Tx, status int, body any) error {
	call, ok := ctx.Value(answeringKey{}).(*answering)
	switch {
	case !ok:
		return errors.New("guard: Answer in a request that is not a guarded write")
	case tx == nil:
		return errors.New("guard: Answer needs the transaction of the write")
	case status < 200 || status > 399:
		return fmt.Errorf("guard: Answer with the status %d; return an error instead", status)
	}
	answer, err := call.encode(status, body)
	if err != nil {
		return err
	}
	call.answer, call.err = &answer, call.finish(ctx, tx, answer)
	return call.err
}

type answeringKey struct{}

// answering is a write under way: the place where Answer leaves the answer.
type answering struct {
	cfg    *IdempotencyConfig
	owner  *KeyOwner // nil: the request has no key
	header http.Header
	keep   keeper

	answer *KeyAnswer // the last that was decided
	err    error      // why it could not be recorded
}

func (a *answering) encode(status int, body any) (KeyAnswer, error) {
	answer := KeyAnswer{Status: status, Header: a.keep.pick(a.header)}
	if body == nil {
		return answer, nil
	}
	if !mayHaveBody(status) {
		return KeyAnswer{}, fmt.Errorf("guard: Answer with a body for the status %d", status)
	}
	var err error
	if answer.Body, err = apierror.EncodeJSON(body); err != nil {
		return KeyAnswer{}, fmt.Errorf("guard: %w", err)
	}
	answer.Header.Set("Content-Type", "application/json")
	answer.Header.Set("X-Content-Type-Options", "nosniff")
	return answer, nil
}

// finish gives the key the answer, or that there was one when it is too large.
func (a *answering) finish(ctx context.Context, tx storage.Tx, answer KeyAnswer) error {
	if a.owner == nil {
		return nil
	}
	if len(answer.Body) > a.cfg.MaxAnswer {
		answer.Body, answer.IsOmitted = nil, true
	}
	if err := a.cfg.Store.FinishKey(ctx, tx, *a.owner, answer); err != nil {
		return fmt.Errorf("guard: record the answer: %w", err)
	}
	return nil
}
