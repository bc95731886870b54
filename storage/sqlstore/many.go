package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/storage"
)

// Statements over many rows come in a few sizes, so that a database prepares few.
var manySizes = [...]int{64, 16, 4, 1}

// chunks calls do with parts of the values, each of one of the sizes.
func chunks[T any](values []T, do func([]T) error) error {
	for len(values) > 0 {
		for _, size := range manySizes {
			if size <= len(values) {
				if err := do(values[:size]); err != nil {
					return err
				}
				values = values[size:]
				break
			}
		}
	}
	return nil
}

// padded repeats the last value up to the next size, for a list in which that changes
// nothing, such as that of IN.
func padded[T any](values []T) []T {
	for _, size := range slices.Backward(manySizes[:]) {
		if n := len(values); n > 0 && n <= size {
			return slices.Concat(values, slices.Repeat(values[n-1:], size-n))
		}
	}
	return values
}

// places is "$3, $4, $5": n placeholders after the first so many.
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
	return chunks(ids, func(part []string) error {
		return storage.Each(ctx, from, query+" ("+places(0, len(part))+")", anys(part), row)
	})
}

// insertMany adds rows with a statement that ends with VALUES.
func (t *tx) insertMany(ctx context.Context, statement string, rows [][]any) error {
	return t.upsertMany(ctx, statement, rows, "")
}

// upsertMany is insertMany with something after the rows, such as ON CONFLICT.
func (t *tx) upsertMany(ctx context.Context, statement string, rows [][]any, after string) error {
	return chunks(rows, func(part [][]any) error {
		var text strings.Builder
		text.WriteString(statement)
		args := make([]any, 0, len(part)*len(part[0]))
		for i, row := range part {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(" (" + places(len(args), len(row)) + ")")
			args = append(args, row...)
		}
		text.WriteString(after)
		_, err := t.exec(ctx, text.String(), args...)
		return err
	})
}

func anys(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}
