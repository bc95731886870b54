package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/storage"
)

// openTx is a transaction of BeginTx.
type openTx struct {
	storage.Tx
	tx *sql.Tx
	db *DB
}

func (t *openTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	n, err := t.Tx.Exec(ctx, query, args...)
	return n, t.error(err)
}

func (t *openTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	rows, err := t.Tx.Query(ctx, query, args...)
	return rows, t.error(err)
}

func (t *openTx) Commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(err, t.Rollback())
	}
	if err := t.tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", t.error(err))
	}
	return nil
}

func (t *openTx) Rollback() error {
	if err := t.tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

func (t *openTx) error(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return storage.ErrTxDone
	}
	return t.db.explain(err)
}

// Pgx adapts a host's pgx.Tx, so that operations can join it.
func Pgx(tx pgx.Tx) storage.Tx { return pgxTx{tx} }

type pgxTx struct{ tx pgx.Tx }

func (t pgxTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (t pgxTx) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	rows, err := t.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgxRows{rows}, nil
}

// pgxRows closes with an error, as *sql.Rows does.
type pgxRows struct{ pgx.Rows }

func (r pgxRows) Close() error {
	r.Rows.Close()
	return r.Err()
}
