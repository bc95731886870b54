package postgres_test

import (
	"context"
	"database/sql/driver"
)

// otherDriver hides pgx from type assertions, as another driver would.
const otherDriver = "not pgx"

// wrapped is a driver whose connections are not *stdlib.Conn.
type wrapped struct{ driver.Driver }

func (w wrapped) Open(name string) (driver.Conn, error) {
	conn, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return wrappedConn{conn}, nil
}

type wrappedConn struct{ driver.Conn }

func (c wrappedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c wrappedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c wrappedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c wrappedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}
