package sqlstore

import (
	"context"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/storage"
)

// maxMany is how many rows one statement is for, at most. Statements come in sizes
// that are powers of two, so that a database prepares few.
const maxMany = 64

// chunks calls do with parts of the values, each of one of the sizes.
func chunks[T any](values []T, do func([]T) error) error { return chunksOf(maxMany, values, do) }

// chunksOf is chunks with a maximum of its own, which is one of the sizes.
func chunksOf[T any](most int, values []T, do func([]T) error) error {
	for len(values) > 0 {
		size := sizeOf(min(len(values), most))
		if err := do(values[:size]); err != nil {
			return err
		}
		values = values[size:]
	}
	return nil
}

// sizeOf returns the greatest size that is not over n, which is at least 1.
func sizeOf(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// sets calls do with parts of the values for an IN, each of one of the sizes.
func sets(values []string, do func([]any) error) error {
	for part := range slices.Chunk(values, maxMany) {
		if err := do(anys(padded(part))); err != nil {
			return err
		}
	}
	return nil
}

// padded repeats the last value up to the next size, for a list in which that changes
// nothing, such as that of IN.
func padded[T any](values []T) []T {
	n := len(values)
	if n == 0 {
		return values
	}
	return slices.Concat(values, slices.Repeat(values[n-1:], 1<<bits.Len(uint(n-1))-n))
}

func anys(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// places returns "$3, $4, $5": n placeholders after the first so many.
func places(after, n int) string {
	var text strings.Builder
	for i := 1; i <= n; i++ {
		if i > 1 {
			text.WriteString(", ")
		}
		text.WriteByte('$')
		text.WriteString(strconv.Itoa(after + i))
	}
	return text.String()
}

// eachIn runs a query whose text ends with IN and gets the ids appended, once for
// every part of them.
func eachIn(ctx context.Context, from storage.Querier, query string, ids []string, row func(scan func(dest ...any) error) error) error {
	return sets(ids, func(set []any) error {
		return storage.Each(ctx, from, query+" ("+places(0, len(set))+")", set, row)
	})
}

// insertMany adds rows with a statement that ends with VALUES.
func (t *tx) insertMany(ctx context.Context, statement string, rows [][]any) error {
	return t.upsertMany(ctx, statement, rows, "")
}

// upsertMany is insertMany with something after the rows, such as ON CONFLICT.
func (t *tx) upsertMany(ctx context.Context, statement string, rows [][]any, after string) error {
	return chunks(rows, func(part [][]any) error {
		_, err := t.on.Exec(ctx, t.manyRows(statement, after, part), flat(part)...)
		return err
	})
}

// returnMany is upsertMany for a statement that ends with RETURNING.
func (t *tx) returnMany(ctx context.Context, statement string, rows [][]any, after string, row func(scan func(dest ...any) error) error) error {
	return chunks(rows, func(part [][]any) error {
		return storage.Each(ctx, t.on, t.manyRows(statement, after, part), flat(part), row)
	})
}

// manyRows puts places for rows behind a statement that ends with VALUES.
func (t *tx) manyRows(statement, after string, rows [][]any) string {
	return t.sql.many(statement, after, len(rows), func(n int) string {
		var text strings.Builder
		columns := len(rows[0])
		for i := range n {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(" (" + places(i*columns, columns) + ")")
		}
		return text.String()
	})
}

// flat returns all values of all rows.
func flat(rows [][]any) []any {
	all := make([]any, 0, len(rows)*len(rows[0]))
	for _, row := range rows {
		all = append(all, row...)
	}
	return all
}

// byKey returns conditions and values of an UPDATE of n rows, each of which has width
// arguments, the key first. SQLite finds the rows of an IN by its index; for an UPDATE FROM
// (VALUES …) it reads the whole table.
type byKey struct {
	key      string // the column
	n, width int
}

// in returns "key IN ($1, $4, …)".
func (b byKey) in() string {
	keys := make([]string, b.n)
	for i := range keys {
		keys[i] = "$" + strconv.Itoa(i*b.width+1)
	}
	return b.key + " IN (" + strings.Join(keys, ", ") + ")"
}

// value returns "CASE key WHEN $1 THEN $3 WHEN $4 THEN $6 … END" for the argument at that place.
func (b byKey) value(place int, columnType string) string {
	var text strings.Builder
	text.WriteString("CASE " + b.key)
	for i := range b.n {
		first := i*b.width + 1
		text.WriteString(" WHEN $" + strconv.Itoa(first) + " THEN CAST($" + strconv.Itoa(first+place) + " AS " + columnType + ")")
	}
	return text.String() + " END"
}

// table returns "VALUES (…), (…)" with places for n rows, to be read as a table. The types
// are those of its columns, which a database has no other way to know.
func table(types ...string) func(n int) string {
	return func(n int) string {
		var text strings.Builder
		text.WriteString("VALUES")
		for i := range n {
			if i > 0 {
				text.WriteByte(',')
			}
			for column, name := range types {
				text.WriteString([]string{" (", ", "}[min(column, 1)])
				place := "$" + strconv.Itoa(i*len(types)+column+1)
				if i == 0 { // the others follow
					place = "CAST(" + place + " AS " + name + ")"
				}
				text.WriteString(place)
			}
			text.WriteByte(')')
		}
		return text.String()
	}
}
