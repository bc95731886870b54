package sqlitedriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"zombiezen.com/go/sqlite"
)

// rows are those of the one use of a statement that is under way.
type rows struct {
	stmt     *stmt
	ctx      context.Context //nolint:containedctx // the rows live as long as it
	unwatch  func()
	isAhead  bool // the statement stands where the next row is, or
	isRow    bool // where there is none
	isClosed bool
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string { return r.stmt.columns }

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) (err error) {
	if r.isClosed {
		return errors.New("sqlite: these rows are closed")
	}
	raw := r.stmt.raw
	if !r.isAhead {
		if r.isRow, err = raw.Step(); err != nil {
			return reason(r.ctx, err)
		}
	}
	r.isAhead = !r.isRow
	if !r.isRow {
		return io.EOF
	}
	for i := range dest {
		switch raw.ColumnType(i) {
		case sqlite.TypeInteger:
			dest[i] = raw.ColumnInt64(i)
		case sqlite.TypeFloat:
			dest[i] = raw.ColumnFloat(i)
		case sqlite.TypeText:
			dest[i] = raw.ColumnText(i)
		case sqlite.TypeBlob:
			data := make([]byte, raw.ColumnLen(i))
			raw.ColumnBytes(i, data)
			dest[i] = data
		default:
			dest[i] = nil
		}
	}
	return nil
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	if r.isClosed {
		return nil
	}
	r.isClosed, r.stmt.open = true, nil
	r.unwatch()
	return r.stmt.release()
}
