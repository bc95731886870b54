package appdata

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

var (
	// ErrNotFound means that the app has no such field or value, or that there is
	// no such app.
	ErrNotFound = errors.New("not found")
	// ErrTooMany means that the app has as many fields as it may have.
	ErrTooMany = errors.New("too many fields")
	// ErrTaken means that the app has a field with this key for the type of record.
	ErrTaken = errors.New("the key is taken")
)

// Store keeps fields and values. Every method that changes something is one
// operation in one transaction.
//
// The values of an app in a business are one space. A value is there while its field
// is not deleted and its space has not ended, which happens when the app's
// business.redact is recorded there: each marks one row, and no value has to be
// found for it. The next value that is written begins a new space.
type Store interface {
	FieldStore
	// Values returns those of an app in a business, by id.
	Values(ctx context.Context, q Query) ([]Value, error)
	// WriteValues adds values or replaces them; see [Write]. [ErrNotFound] when
	// one of their fields is not there any more; nothing is written then.
	WriteValues(ctx context.Context, w Write) ([]Value, error)
	// DeleteValue deletes a value; see [Removal]. Exactly one of several concurrent
	// calls finds the value; the others return [ErrNotFound].
	DeleteValue(ctx context.Context, r Removal) error
	// Purge deletes a batch of records of the kind [storage.PurgeAppData], and returns how
	// many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// FieldStore keeps fields. Deleted ones are not found.
type FieldStore interface {
	// Fields lists those of an app, oldest first.
	Fields(ctx context.Context, appID string) ([]Field, error)
	// ChangeFields changes the fields of an app in one transaction: change gets them as they
	// stand, locked, and returns them as they should be; its error is returned and nothing
	// is changed. It may be called more than once. A field with a new id is added, and one
	// that is missing is deleted as of now. Only Label, Rules, UpdatedAt and Version of an
	// existing field change. [ErrNotFound] when there is no such app, [ErrTaken] when two
	// fields would have the same key for a type of record.
	ChangeFields(ctx context.Context, appID string, now time.Time, change func([]Field) ([]Field, error)) error
}

// Query asks for values.
type Query struct {
	AppID, BusinessID string
	ResourceIDs       []string
	ResourceType, Key string // empty: any
}

// Write is values to be written, all or none.
type Write struct {
	AppID, BusinessID string
	SpaceID           string // of a new space, should there be none
	Drafts            []Draft
	// Record returns the events that tell about the values that were added or
	// changed; it is not called when there are none. It must be pure.
	Record func(changed []Value) []partner.Event
	// Respond is called before the commit with all values, in the order of the
	// drafts; its error undoes everything. It may be called more than once.
	Respond func(ctx context.Context, tx storage.Tx, all []Value) error
}

// Draft is a value to be written. Its id and CreatedAt are for a new one; one that is
// there keeps its own, and its UpdatedAt too when the value is the same to the letter.
type Draft struct {
	FieldID string
	Value
}

// Removal is a value to be deleted. Check validates it under the lock; its error is
// returned and nothing is deleted. Record and Respond are as in [Write].
type Removal struct {
	AppID, BusinessID, ValueID string
	Check                      func(Value) error
	Record                     func(deleted Value) []partner.Event
	Respond                    func(ctx context.Context, tx storage.Tx) error
}
