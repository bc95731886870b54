package storage

import (
	"context"
	"errors"
)

// Querier is the source of [One] and [Each]: a [Tx] or a [DB].
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// Later runs a statement of an operation whose outcome the operation need not know, by the time
// that it commits: on a database behind a network it may travel with another. When it
// fails, the operation fails.
func Later(ctx context.Context, tx Tx, query string, args ...any) error {
	if pipeline, ok := tx.(interface {
		Later(ctx context.Context, query string, args ...any) error
	}); ok {
		return pipeline.Later(ctx, query, args...)
	}
	_, err := tx.Exec(ctx, query, args...)
	return err
}

// OneLater is [One] for a row that the operation reads only after its next statement has run. The
// query may be sent together with that statement. By then found reports whether there was a
// row. There must be a next statement.
func OneLater(ctx context.Context, tx Tx, found *bool, query string, args []any, dest ...any) error {
	if pipeline, ok := tx.(interface {
		OneLater(ctx context.Context, found *bool, query string, args, dest []any) error
	}); ok {
		return pipeline.OneLater(ctx, found, query, args, dest)
	}
	err := One(ctx, tx, query, args, dest...)
	*found = err == nil
	if errors.Is(err, ErrNoRows) {
		return nil
	}
	return err
}

// pointReader is a [Querier] that has a shorter way to one row.
type pointReader interface {
	One(ctx context.Context, query string, args, dest []any) error
}

// One scans the first row of a query into dest. It returns [ErrNoRows] if there is none.
// The query runs to its end even if ctx ends meanwhile; use [Each] for queries that take
// long.
func One(ctx context.Context, from Querier, query string, args []any, dest ...any) error {
	if short, ok := from.(pointReader); ok {
		return short.One(ctx, query, args, dest)
	}
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return rows.Close()
}

// OneByKey is [One] for a single SELECT that finds its row by a key of an index. A
// database may run it over a connection on which writers wait, so it must be short. A
// host's own queries use [One].
func OneByKey(ctx context.Context, from Querier, query string, args []any, dest ...any) error {
	if keyed, ok := from.(interface {
		OneByKey(ctx context.Context, query string, args, dest []any) error
	}); ok {
		return keyed.OneByKey(ctx, query, args, dest)
	}
	return One(ctx, from, query, args, dest...)
}

// Each calls row for every row of a query, with the Scan of that row. An error
// of row ends the reading and is returned. The rows are open meanwhile, so row
// keeps what it scans and leaves the rest for later.
func Each(ctx context.Context, from Querier, query string, args []any, row func(scan func(dest ...any) error) error) error {
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}
