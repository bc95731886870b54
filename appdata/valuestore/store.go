// Package valuestore is what package appdata asks of a store: the declared fields of apps and the
// values that apps attach to records. Authors of stores implement [Store]; a host needs no name
// of it but those of the records that package appdata shows.
package valuestore

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// ErrTaken means that the app has a field with this key for the type of record.
var ErrTaken = errors.New("the key is taken")

// Store keeps fields and values. Every method that changes something is one operation in one
// transaction.
//
// The values of an app in a business are one space. A value is there while its field is not
// deleted and its space has not ended, which happens when the app's business.redact is recorded
// there: each marks one row, and no value has to be found for it. The next value that is written
// begins a new space.
type Store interface {
	// Fields lists those of an app, oldest first. Deleted ones are not found.
	Fields(ctx context.Context, appID string) ([]Field, error)
	// ChangeFields changes the fields of an app in one transaction: change gets them as they
	// stand, locked, and returns them as they should be; its error is returned and nothing
	// is changed. It may be called more than once. A field with a new id is added, and one
	// that is missing is deleted as of now. Only Label, Rules, UpdatedAt and Version of an
	// existing field change. [partner.ErrNotFound] when there is no such app, [ErrTaken] when two
	// fields would have the same key for a type of record.
	ChangeFields(ctx context.Context, appID string, now time.Time, change func([]Field) ([]Field, error)) error
	// Values returns those of an app in a business, by id.
	Values(ctx context.Context, q Query) ([]Value, error)
	// WriteValues adds values or replaces them; see [Write]. [partner.ErrNotFound] when
	// one of their fields is not there any more; nothing is written then.
	WriteValues(ctx context.Context, w Write) ([]Value, error)
	// DeleteValue deletes a value; see [Removal]. Exactly one of several concurrent
	// calls finds the value; the others return [partner.ErrNotFound].
	DeleteValue(ctx context.Context, r Removal) error
	// Purge deletes a batch of records of the kind [storage.PurgeAppData], and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}
