package sqlitedriver

import (
	"context"
	"database/sql"
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
		dest[i] = r.Value(i)
	}
	return nil
}

// Value is that of a column of the row at which the rows stand. With [rows.Scan] it is for
// those who call Next without places for the values.
func (r *rows) Value(i int) driver.Value {
	raw := r.stmt.raw
	switch raw.ColumnType(i) {
	case sqlite.TypeInteger:
		return raw.ColumnInt64(i)
	case sqlite.TypeFloat:
		return raw.ColumnFloat(i)
	case sqlite.TypeText:
		return raw.ColumnText(i)
	case sqlite.TypeBlob:
		data := make([]byte, raw.ColumnLen(i))
		raw.ColumnBytes(i, data)
		return data
	}
	return nil
}

// Scan stores a column of that row where dest points to, without a [driver.Value] in
// between. It reports false when the two do not go together as they are.
func (r *rows) Scan(i int, dest any) bool {
	raw := r.stmt.raw
	is := raw.ColumnType(i)
	switch dest := dest.(type) {
	case *string:
		if is == sqlite.TypeText {
			*dest = raw.ColumnText(i)
			return true
		}
	case *int64:
		if is == sqlite.TypeInteger {
			*dest = raw.ColumnInt64(i)
			return true
		}
	case *sql.NullString:
		if *dest = (sql.NullString{}); is == sqlite.TypeText {
			*dest = sql.NullString{String: raw.ColumnText(i), Valid: true}
		}
		return is == sqlite.TypeText || is == sqlite.TypeNull
	case *sql.NullInt64:
		if *dest = (sql.NullInt64{}); is == sqlite.TypeInteger {
			*dest = sql.NullInt64{Int64: raw.ColumnInt64(i), Valid: true}
		}
		return is == sqlite.TypeInteger || is == sqlite.TypeNull
	}
	return false
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
