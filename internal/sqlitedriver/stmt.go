package sqlitedriver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	lib "modernc.org/sqlite/lib"
)

type stmt struct {
	conn    *conn
	raw     uintptr
	rest    string // the statements after it
	columns []string
	places  []int  // which value each parameter takes
	room    []byte // where SQLite finds the texts among the values; empty while it is not used
	open    *rows  // of its last use, if they are not closed
}

// keep is how much room a statement keeps for the texts of its next use.
const keep = 4096

// prepare looks at the first of several statements; the others are prepared when it has
// run, since they may need it.
func (c *conn) prepare(query string) (*stmt, error) {
	switch {
	case c.db == 0:
		return nil, errClosed
	case strings.Contains(query, "\x00"):
		return nil, errors.New("sqlite: a NUL in a statement")
	}
	text, err := libc.CString(query)
	if err != nil {
		return nil, fmt.Errorf("sqlite: the text of a statement: %w", err)
	}
	defer libc.Xfree(c.tls, text)
	raw := c.tls.Alloc(2 * pointer)
	defer c.tls.Free(2 * pointer)
	rest := raw + pointer
	if err := c.failure(lib.Xsqlite3_prepare_v3(c.tls, c.db, text, -1, lib.SQLITE_PREPARE_PERSISTENT, raw, rest)); err != nil {
		return nil, err
	}
	s := &stmt{conn: c, raw: *memory[uintptr](raw), rest: beginning(query[*memory[uintptr](rest)-text:])}
	if s.raw == 0 {
		return nil, errors.New("sqlite: an empty statement")
	}
	s.columns = make([]string, lib.Xsqlite3_column_count(c.tls, s.raw))
	for i := range s.columns {
		s.columns[i] = libc.GoString(lib.Xsqlite3_column_name(c.tls, s.raw, int32(i)))
	}
	if err := s.place(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// beginning is a text from where its next statement begins.
func beginning(text string) string {
	for {
		text = strings.TrimLeft(text, "; \t\n\f\r\ufeff")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text[2:], "*/")
		default:
			return text
		}
	}
}

// place finds out which value each parameter takes, from 1. SQLite counts them by where they
// appear first; those that are written $2 or ?2 say so themselves.
func (s *stmt) place() error {
	s.places = make([]int, lib.Xsqlite3_bind_parameter_count(s.conn.tls, s.raw))
	for i := range s.places {
		name := libc.GoString(lib.Xsqlite3_bind_parameter_name(s.conn.tls, s.raw, int32(i+1)))
		if name == "" {
			s.places[i] = i + 1
			continue
		}
		place, err := strconv.Atoi(name[1:])
		if err != nil || place < 1 {
			return fmt.Errorf("sqlite: parameter %s has no number", name)
		}
		s.places[i] = place
	}
	return nil
}

// NumInput implements driver.Stmt; values are counted as they are bound.
func (s *stmt) NumInput() int { return -1 }

// Close implements driver.Stmt, and closes its rows.
func (s *stmt) Close() error {
	err := s.closeRows()
	lib.Xsqlite3_finalize(s.conn.tls, s.raw) // whose error is that of the last step, which was told
	s.raw = 0
	s.leaveRoom()
	return err
}

func (s *stmt) closeRows() error {
	if s.open == nil {
		return nil
	}
	return s.open.Close()
}

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// ExecContext implements driver.StmtExecContext. The same values are for each of several
// statements.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.run(ctx, args); err != nil {
		return nil, err
	}
	for rest := s.rest; rest != ""; {
		next, err := s.conn.prepare(rest)
		if err != nil {
			return nil, err
		}
		rest = next.rest
		if err := errors.Join(next.run(ctx, args), next.Close()); err != nil {
			return nil, err
		}
	}
	return driver.RowsAffected(lib.Xsqlite3_changes64(s.conn.tls, s.conn.db)), nil
}

// run steps to the end, past rows that nobody asked for.
func (s *stmt) run(ctx context.Context, args []driver.NamedValue) error {
	if err := s.bind(args); err != nil {
		return err
	}
	for {
		isRow, err := s.step(ctx)
		if err != nil || !isRow {
			return cmp.Or(err, s.release()) // which happens in any case
		}
	}
}

// QueryContext implements driver.StmtQueryContext. What a statement does it has done, or
// begun to do, when this returns, whether its rows are read or not.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.rest != "" {
		return nil, errors.New("sqlite: rows of several statements; query one at a time")
	}
	if err := s.bind(args); err != nil {
		return nil, err
	}
	isRow, err := s.step(ctx)
	if err != nil {
		_ = s.release()
		return nil, err
	}
	if n := int(lib.Xsqlite3_column_count(s.conn.tls, s.raw)); n != len(s.columns) { // a table has changed since; nobody tells the names
		s.columns = make([]string, n)
	}
	s.open = &rows{stmt: s, ctx: ctx, isAhead: true, isRow: isRow}
	return s.open, nil
}

// step goes on to the next row, or to the end.
func (s *stmt) step(ctx context.Context) (isRow bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	c := s.conn
	c.ctx = ctx
	rc := lib.Xsqlite3_step(c.tls, s.raw)
	c.ctx = context.Background()
	switch rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	case lib.SQLITE_INTERRUPT:
		return false, cmp.Or(ctx.Err(), c.failure(rc))
	}
	return false, c.failure(rc)
}

// bind begins a use of the statement, which ends the one before.
func (s *stmt) bind(args []driver.NamedValue) error {
	if s.raw == 0 {
		return errors.New("sqlite: the statement is closed")
	}
	if err := s.closeRows(); err != nil {
		return err
	}
	size := 1 // nothing is somewhere, too
	for _, place := range s.places {
		if place > len(args) {
			return fmt.Errorf("sqlite: no value for parameter %d, %d are given", place, len(args))
		}
		switch value := args[place-1].Value.(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		}
	}
	if size > cap(s.room) {
		if err := s.makeRoom(size); err != nil {
			return err
		}
	}
	for i, place := range s.places {
		if err := s.bindOne(int32(i+1), args[place-1].Value); err != nil {
			_ = s.release()
			return fmt.Errorf("sqlite: parameter %d: %w", place, err)
		}
	}
	return nil
}

func (s *stmt) bindOne(i int32, value driver.Value) error {
	const static = 0 // SQLite needs no copy: the room lasts as long as the use
	tls := s.conn.tls
	var rc int32
	switch value := value.(type) {
	case nil:
		rc = lib.Xsqlite3_bind_null(tls, s.raw, i)
	case int64:
		rc = lib.Xsqlite3_bind_int64(tls, s.raw, i, value)
	case float64:
		rc = lib.Xsqlite3_bind_double(tls, s.raw, i, value)
	case bool:
		var number int64
		if value {
			number = 1
		}
		rc = lib.Xsqlite3_bind_int64(tls, s.raw, i, number)
	case string:
		rc = lib.Xsqlite3_bind_text64(tls, s.raw, i, put(s, value), uint64(len(value)), static, lib.SQLITE_UTF8)
	case []byte:
		if value == nil {
			rc = lib.Xsqlite3_bind_null(tls, s.raw, i)
			break
		}
		rc = lib.Xsqlite3_bind_blob64(tls, s.raw, i, put(s, value), uint64(len(value)), static)
	default:
		return fmt.Errorf("a %T, which SQLite has no type for; pass text or a number", value)
	}
	return s.conn.failure(rc)
}

// put appends a text to the others, for which there is room.
func put[T string | []byte](s *stmt, text T) uintptr {
	at := len(s.room)
	s.room = append(s.room, text...)
	return s.inRoom(at)
}

func (s *stmt) inRoom(at int) uintptr { return address(&s.room[:at+1][at]) }

// makeRoom allocates room in the place of what there was.
func (s *stmt) makeRoom(size int) error {
	s.leaveRoom()
	size = max(size, 64)
	room := libc.Xmalloc(s.conn.tls, types.Size_t(size))
	if room == 0 {
		return fmt.Errorf("sqlite: no memory for %d bytes of values", size)
	}
	s.room = bytesAt(room, size)[:0]
	return nil
}

func (s *stmt) leaveRoom() {
	if s.room != nil {
		libc.Xfree(s.conn.tls, s.inRoom(0))
		s.room = nil
	}
}

// release ends a use of the statement, and lets go of its values. A statement whose rows
// were not all read may fail only here; the error of a step that failed comes again.
func (s *stmt) release() error {
	err := s.conn.failure(lib.Xsqlite3_reset(s.conn.tls, s.raw))
	lib.Xsqlite3_clear_bindings(s.conn.tls, s.raw)
	if s.room = s.room[:0]; cap(s.room) > keep {
		s.leaveRoom()
	}
	return err
}
