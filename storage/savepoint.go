package storage

import (
	"context"
	"errors"
	"fmt"
)

// Savepoint runs the operation inside tx so that it happens as a whole or not at all. If
// the operation fails, only its own statements are rolled back and its error is returned
// unchanged. If they could not be rolled back, the error has the operation's error as text
// only, so that errors.Is does not match it.
func Savepoint(ctx context.Context, tx Tx, act Operation) (err error) {
	if _, err := tx.Exec(ctx, "SAVEPOINT partnerkit_act"); err != nil {
		return fmt.Errorf("open savepoint: %w", err)
	}
	finished := false
	defer func() {
		if !finished { // the operation panicked: leave the transaction as it was
			_ = undo(ctx, tx)
		}
	}()
	err = act(ctx, tx)
	finished = true
	if err == nil {
		if _, err = tx.Exec(ctx, "RELEASE SAVEPOINT partnerkit_act"); err == nil {
			return nil
		}
		// A statement that the operation left for [Later] may have failed with it.
		err = fmt.Errorf("release savepoint: %w", err)
	}
	if lost := undo(ctx, tx); lost != nil {
		// Keep the error of ctx recognizable: it is not an error of the database.
		return fmt.Errorf("%w, after: %v", errors.Join(lost, ctx.Err()), err) //nolint:errorlint // on purpose
	}
	return err
}

// undo runs even if ctx has ended: the transaction may continue.
func undo(ctx context.Context, tx Tx) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := tx.Exec(ctx, "ROLLBACK TO SAVEPOINT partnerkit_act"); err != nil {
		return fmt.Errorf("roll back to savepoint: %w", err)
	}
	if _, err := tx.Exec(ctx, "RELEASE SAVEPOINT partnerkit_act"); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return nil
}
