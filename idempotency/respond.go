package idempotency

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/storage"
)

// Respond sets the response of a write, in the transaction of the write: both are committed
// or neither is. The handler commits, writes nothing itself and returns nil; the client
// then gets this response. If the request has an Idempotency-Key, every repetition within
// [Config].Lifetime gets the same response, even if the process died or the
// handler failed right after the commit.
//
// tx is the transaction that the handler opened and writes with: of the store's
// BeginTx, storage.SQL of a *sql.Tx, or postgres.Pgx of a pgx.Tx, on the database
// of the store. On PostgreSQL make Respond the last statement before the commit:
// repetitions that come in between wait for it. A transaction that is run again
// calls Respond again; the last call counts.
//
// status is 200 to 399; to send another status, return an error instead, which rolls back.
// body is encoded as JSON; nil means no body. Set Location and other headers before the
// call.
//
// An error means that the transaction must be rolled back and the error
// returned. [keystore.ErrLost] is one such error: this request was presumed dead, and
// another request is doing its work or has done it. The response asks the client
// to retry.
//
// With a key it costs one statement and no commit; without one it costs nothing.
// Outside of a POST, PUT, PATCH or DELETE that [Keys.Wrap] serves it is
// an error.
func Respond(ctx context.Context, tx storage.Tx, status int, body any) error {
	call, ok := ctx.Value(respondingKey{}).(*responding)
	switch {
	case !ok:
		return errors.New("idempotency: Respond in a request that is not a guarded write")
	case tx == nil:
		return errors.New("idempotency: Respond needs the transaction of the write")
	case status < 200 || status > 399:
		return fmt.Errorf("idempotency: Respond with the status %d; return an error instead", status)
	}
	response, err := call.encode(status, body)
	if err != nil {
		return err
	}
	call.response, call.err = &response, call.finish(ctx, tx, response)
	return call.err
}

type respondingKey struct{}

// responding is a write in progress. Respond stores the response in it.
type responding struct {
	cfg    *Config
	owner  *keystore.Hold // nil: the request has no key
	header http.Header
	keep   keeper

	response *keystore.Response // the last that was decided
	err      error              // why it could not be recorded
}

func (a *responding) encode(status int, body any) (keystore.Response, error) {
	response := keystore.Response{Status: status, Header: a.keep.pick(a.header)}
	if body == nil {
		return response, nil
	}
	if !mayHaveBody(status) {
		return keystore.Response{}, fmt.Errorf("idempotency: Respond with a body for the status %d", status)
	}
	var err error
	if response.Body, err = apierror.EncodeJSON(body); err != nil {
		return keystore.Response{}, fmt.Errorf("idempotency: %w", err)
	}
	response.Header.Set("Content-Type", "application/json")
	response.Header.Set("X-Content-Type-Options", "nosniff")
	return response, nil
}

// finish gives the key the response, or that there was one when it is too large.
func (a *responding) finish(ctx context.Context, tx storage.Tx, response keystore.Response) error {
	if a.owner == nil {
		return nil
	}
	if len(response.Body) > a.cfg.MaxResponse {
		response.Body, response.IsOmitted = nil, true
	}
	if err := a.cfg.Store.FinishKey(ctx, tx, *a.owner, response); err != nil {
		return fmt.Errorf("idempotency: record the answer: %w", err)
	}
	return nil
}
