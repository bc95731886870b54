package ledger

import (
	"context"
	"errors"
	"fmt"
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
	absent := apierror.New(apierror.RecordNotFound, t.resource, recordID)
	if !id.Valid(t.kind, recordID) { // which could be anything, also what no database takes
		return record, absent
	}
	found, err := t.where(ctx, from, "business_id = $1 AND id = $2"+lock, businessID, recordID)
	switch {
	case err != nil:
		return record, err
	case len(found) == 0:
		return record, absent
	}
	return found[0], nil
}

// among returns the records of the business that have one of the ids, in the order
// of their ids.
func (t table[T]) among(ctx context.Context, from storage.Querier, businessID string, ids []string, lock string) ([]T, error) {
	args := []any{businessID}
	places := make([]string, 0, len(ids))
	for _, one := range ids {
		if id.Valid(t.kind, one) {
			args = append(args, one)
			places = append(places, "$"+strconv.Itoa(len(args)))
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	return t.where(ctx, from, "business_id = $1 AND id IN ("+strings.Join(places, ", ")+") ORDER BY id"+lock, args...)
}

// insert adds rows of the business with the values of the columns.
func (t table[T]) insert(ctx context.Context, tx storage.Tx, businessID string, rows ...[]any) error {
	args := []any{businessID}
	tuples := make([]string, len(rows))
	for i, row := range rows {
		places := make([]string, len(row))
		for j := range row {
			places[j] = "$" + strconv.Itoa(len(args)+j+1)
		}
		tuples[i] = "($1, " + strings.Join(places, ", ") + ")"
		args = append(args, row...)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO "+t.name+" (business_id, "+t.columns+") VALUES "+strings.Join(tuples, ", "), args...); err != nil {
		return fmt.Errorf("insert into %s: %w", t.name, err)
	}
	return nil
}

// fault is an error for the client: its own, or a 5xx.
func fault(err error) error {
	if _, ok := errors.AsType[*apierror.Error](err); ok || err == nil {
		return err
	}
	if errors.Is(err, storage.ErrBusy) {
		return apierror.Unavailable(err)
	}
	return fmt.Errorf("ledger: %w", err)
}
