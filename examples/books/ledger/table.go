package ledger

import (
	"context"
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

// table is the records of one kind: where they lie, what they are called, and how
// a row becomes what the API shows.
type table[T any] struct {
	name     string
	path     string  // of the API
	resource string  // the type, in errors, events and app data
	kind     id.Kind // of the ids
	columns  string  // in the order of read and of the rows that are inserted
	read     func(scan func(dest ...any) error) (T, error)
	idOf     func(T) string
}

// where returns the records that a condition holds for, in its order.
func (t table[T]) where(ctx context.Context, from storage.Querier, condition string, args ...any) ([]T, error) {
	return t.records(ctx, from, "SELECT "+t.columns+" FROM "+t.name+" WHERE "+condition, args...)
}

// returning runs a statement that changes records, and returns them.
func (t table[T]) returning(ctx context.Context, tx storage.Tx, statement string, args ...any) ([]T, error) {
	return t.records(ctx, tx, statement+" RETURNING "+t.columns, args...)
}

func (t table[T]) records(ctx context.Context, from storage.Querier, query string, args ...any) ([]T, error) {
	records := []T{}
	err := storage.Each(ctx, from, query, args, func(scan func(...any) error) error {
		record, err := t.read(scan)
		records = append(records, record)
		return err
	})
	return records, err
}

// find returns a record of the business; RECORD_NOT_FOUND also for those of others.
// lock ends the statement and may be empty.
func (t table[T]) find(ctx context.Context, from storage.Querier, businessID, recordID, lock string) (record T, err error) {
	if !id.Valid(t.kind, recordID) { // it may be any text, even one that no database can store
		return record, t.absent(recordID)
	}
	found, err := t.where(ctx, from, "business_id = $1 AND id = $2"+lock, businessID, recordID)
	switch {
	case err != nil:
		return record, err
	case len(found) == 0:
		return record, t.absent(recordID)
	}
	return found[0], nil
}

var recordNotFound = apierror.Entry{Code: "RECORD_NOT_FOUND", Status: http.StatusNotFound, Message: "this business has no {p0} with the id {p1}"}

func (t table[T]) absent(recordID string) error {
	return recordNotFound.New(t.resource, recordID)
}

// among returns the records of the business that have one of the ids, in the order
// of their ids.
func (t table[T]) among(ctx context.Context, from storage.Querier, businessID string, ids []string, lock string) ([]T, error) {
	args := []any{businessID}
	for _, one := range ids {
		if id.Valid(t.kind, one) {
			args = append(args, one)
		}
	}
	n := len(args) - 1
	if n == 0 {
		return nil, nil
	}
	args = append(args, slices.Repeat(args[n:], roundUp(n)-n)...) // which changes nothing in a set
	return t.where(ctx, from, "business_id = $1 AND id IN ("+places(2, roundUp(n))+") ORDER BY id"+lock, args...)
}

// insert adds rows of the business with the values of the columns.
func (t table[T]) insert(ctx context.Context, tx storage.Tx, businessID string, rows ...[]any) error {
	for len(rows) > 0 {
		size := roundUp(len(rows)/2 + 1) // the largest that there are enough rows for
		args := []any{businessID}
		tuples := make([]string, size)
		for i, row := range rows[:size] {
			tuples[i] = "($1, " + places(len(args)+1, len(row)) + ")"
			args = append(args, row...)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO "+t.name+" (business_id, "+t.columns+") VALUES "+strings.Join(tuples, ", "), args...); err != nil {
			return fmt.Errorf("insert into %s: %w", t.name, err)
		}
		rows = rows[size:]
	}
	return nil
}

// places returns "$3, $4, $5": n placeholders.
func places(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(all, ", ")
}

// roundUp returns the next power of two. Statements come in these sizes alone, so that a
// database prepares few of them.
func roundUp(n int) int { return 1 << bits.Len(uint(n-1)) }
