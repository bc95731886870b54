package sqlitedriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// rows are those of the one use of a statement that is under way.
type rows struct {
	stmt     *stmt
	ctx      context.Context //nolint:containedctx // the rows live as long as it
	isAhead  bool            // the statement stands where the next row is, or
	isRow    bool            // where there is none
	isClosed bool
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string { return r.stmt.columns }

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) (err error) {
	if r.isClosed {
		return errors.New("sqlite: these rows are closed")
	}
	if !r.isAhead {
		if r.isRow, err = r.stmt.step(r.ctx); err != nil {
			_ = r.Close() // which has the same error
			return err
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
	v := r.column(i)
	switch v.kind() {
	case lib.SQLITE_INTEGER:
		return v.number()
	case lib.SQLITE_FLOAT:
		return lib.Xsqlite3_value_double(v.tls, v.raw)
	case lib.SQLITE_TEXT:
		return v.text()
	case lib.SQLITE_BLOB:
		data := lib.Xsqlite3_value_blob(v.tls, v.raw)
		return append([]byte{}, v.bytes(data)...)
	}
	return nil
}

// Scan stores a column of that row where dest points to, without a [driver.Value] in
// between. It reports false when the two do not go together as they are.
func (r *rows) Scan(i int, dest any) bool {
	v := r.column(i)
	is := v.kind()
	switch dest := dest.(type) {
	case *string:
		if is == lib.SQLITE_TEXT {
			*dest = v.text()
			return true
		}
	case *int64:
		if is == lib.SQLITE_INTEGER {
			*dest = v.number()
			return true
		}
	case *sql.NullString:
		if *dest = (sql.NullString{}); is == lib.SQLITE_TEXT {
			*dest = sql.NullString{String: v.text(), Valid: true}
		}
		return is == lib.SQLITE_TEXT || is == lib.SQLITE_NULL
	case *sql.NullInt64:
		if *dest = (sql.NullInt64{}); is == lib.SQLITE_INTEGER {
			*dest = sql.NullInt64{Int64: v.number(), Valid: true}
		}
		return is == lib.SQLITE_INTEGER || is == lib.SQLITE_NULL
	}
	return false
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	if r.isClosed {
		return nil
	}
	r.isClosed, r.stmt.open = true, nil
	return r.stmt.release()
}

// value is one of the row at which a statement stands.
type value struct {
	tls *libc.TLS
	raw uintptr
}

func (r *rows) column(i int) value {
	tls := r.stmt.conn.tls
	return value{tls, lib.Xsqlite3_column_value(tls, r.stmt.raw, int32(i))}
}

func (v value) kind() int32 { return lib.Xsqlite3_value_type(v.tls, v.raw) }

func (v value) number() int64 { return lib.Xsqlite3_value_int64(v.tls, v.raw) }

func (v value) text() string { return string(v.bytes(lib.Xsqlite3_value_text(v.tls, v.raw))) }

// bytes are those of a text or a blob that begins there.
func (v value) bytes(at uintptr) []byte {
	return bytesAt(at, int(lib.Xsqlite3_value_bytes(v.tls, v.raw)))
}
