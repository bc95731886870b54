// Package export writes records as CSV for spreadsheets, and as JSON lines for programs.
package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/stamp"
)

// Format is a format of an export. It is also the ending of the file's name.
type Format string

// The formats.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
)

// Formats returns all formats, in the order in which pages offer them.
func Formats() []Format { return []Format{CSV, JSONLines} }

// ContentType returns the media type of a format.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8"
	}
	return "application/jsonl"
}

// Requested returns the first format whose media type the Accept header of a request names;
// empty if it names none.
func Requested(r *http.Request) Format {
	for _, value := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			kind, _, _ := mime.ParseMediaType(one)
			switch kind {
			case "text/csv":
				return CSV
			case "application/jsonl":
				return JSONLines
			}
		}
	}
	return ""
}

// Column is a column of a CSV file and a member of each JSON object.
type Column[T any] struct {
	Name string
	// Value returns the value of a record: a string, a number, a boolean, a time, or nil, for
	// which CSV has an empty cell and JSON has null.
	Value func(T) any
}

// Source calls yield with the records one after the other, and returns the first error.
type Source[T any] func(yield func(T) error) error

// File is an export as it is sent.
type File[T any] struct {
	Name    string // without the ending
	Format  Format
	Columns []Column[T]
}

// Serve responds with all records of a source. An error before the first record is returned.
// What fails later ends the connection by a panic with http.ErrAbortHandler, so that an
// incomplete file does not look complete; failed is told.
func (f File[T]) Serve(w http.ResponseWriter, from Source[T], failed func(error)) error {
	h := w.Header()
	begun := false
	begin := func() error {
		begun = true
		h.Set("Content-Type", f.Format.ContentType())
		h.Set("Content-Disposition", `attachment; filename="`+f.Name+"."+string(f.Format)+`"`)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		return f.head(w)
	}
	err := from(func(record T) error {
		if !begun {
			if err := begin(); err != nil {
				return err
			}
		}
		return f.row(w, record)
	})
	switch {
	case err == nil && !begun:
		return begin()
	case err != nil && begun:
		failed(err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// head writes the names of the columns, which JSON has in each record.
func (f File[T]) head(w http.ResponseWriter) error {
	if f.Format != CSV {
		return nil
	}
	names := make([]string, len(f.Columns))
	for i, column := range f.Columns {
		names[i] = column.Name
	}
	return write(w, names)
}

func (f File[T]) row(w http.ResponseWriter, record T) error {
	if f.Format == CSV {
		cells := make([]string, len(f.Columns))
		for i, column := range f.Columns {
			cells[i] = cell(column.Value(record))
		}
		return write(w, cells)
	}
	var line bytes.Buffer
	for i, column := range f.Columns {
		name, err := json.Marshal(column.Name)
		if err != nil {
			return err
		}
		value := column.Value(record)
		if at, ok := value.(time.Time); ok {
			value = stamp.OrNull(at)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		line.WriteByte("{,"[min(i, 1)])
		line.Write(name)
		line.WriteByte(':')
		line.Write(text)
	}
	line.WriteString("}\n")
	_, err := w.Write(line.Bytes())
	return err
}

func write(w http.ResponseWriter, cells []string) error {
	out := csv.NewWriter(w)
	if err := out.Write(cells); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// cell returns a value as a cell. Spreadsheets take a text that begins with one of = + - @, a
// tab or a line break for a formula, so that such a text gets an apostrophe in front.
func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	case string:
		if v != "" && strings.ContainsRune("=+-@\t\r\n", rune(v[0])) {
			return "'" + v
		}
		return v
	}
	return fmt.Sprint(value)
}
