package sessiontoken

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	// LeadTime is how long a new key is published before it signs. The list of a node
	// may be 30 seconds old, a cache between the node and a verifier may keep it for
	// KeySetMaxAge, and the verifier may keep that copy for as long again.
	LeadTime = time.Hour
	// retireDelay is how long a key stays published after its last token has expired,
	// for nodes whose clocks differ.
	retireDelay = time.Minute
	// maxReads bounds the readings of a store in which no key ever appears.
	maxReads = 3
)

// Rotate creates a new key. If several nodes rotate at the same time, one key is created
// and all of them return nil.
func (k *Keys) Rotate(ctx context.Context, now time.Time) error {
	rows, err := k.Store.SigningKeys(ctx, now)
	if err != nil {
		return fmt.Errorf("signing keys: %w", err)
	}
	if len(rows) == 0 {
		_, err := k.rows(ctx, now)
		return err
	}
	return k.succeed(ctx, rows[len(rows)-1], now)
}

// Maintain seals keys with the keyring's first key and creates a new key once the newest is
// at least age old. An age of zero or less disables rotation. The keys are read once, so
// that exactly one of several nodes rotates. A key that cannot be opened does not prevent
// the rotation.
func (k *Keys) Maintain(ctx context.Context, now time.Time, age time.Duration) error {
	rows, err := k.Store.SigningKeys(ctx, now)
	if err != nil {
		return fmt.Errorf("signing keys: %w", err)
	}
	for _, row := range rows {
		err = errors.Join(err, k.reseal(ctx, row))
	}
	if age > 0 && len(rows) > 0 && now.Sub(rows[len(rows)-1].CreatedAt) >= age {
		err = errors.Join(err, k.succeed(ctx, rows[len(rows)-1], now))
	}
	return err
}

func (k *Keys) reseal(ctx context.Context, row Key) error {
	if !k.Keyring.NeedsReseal(row.Sealed) {
		return nil
	}
	raw, err := k.Keyring.Open(place(row.ID), row.Sealed)
	if err != nil {
		return fmt.Errorf("signing key %s: %w", row.ID, err)
	}
	sealed, err := k.Keyring.Seal(place(row.ID), raw)
	if err != nil {
		return fmt.Errorf("seal signing key: %w", err)
	}
	if err := k.Store.ResealSigningKey(ctx, row.ID, row.Sealed, sealed); err != nil {
		return fmt.Errorf("reseal signing key: %w", err)
	}
	return nil
}

// succeed creates the key that follows the newest one. Each key is created later and signs
// later than the one before, even if both are created within one millisecond or by nodes
// whose clocks differ.
func (k *Keys) succeed(ctx context.Context, newest Key, now time.Time) error {
	created := later(now, newest.CreatedAt.Add(time.Millisecond))
	activeAt := later(now.Add(LeadTime), newest.ActiveAt.Add(time.Millisecond))
	if err := k.add(ctx, newest.ID, created, activeAt); err != nil {
		return err
	}
	k.list.Store(nil) // the next request to this node reads the new key
	return nil
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// rows lists the keys of the store. It creates the first key of an empty store, which signs
// at once: no key set without it can have been published. If several nodes create it at the
// same time, the store keeps one, which the others read.
func (k *Keys) rows(ctx context.Context, now time.Time) ([]Key, error) {
	for range maxReads {
		rows, err := k.Store.SigningKeys(ctx, now)
		if err != nil {
			return nil, fmt.Errorf("signing keys: %w", err)
		}
		if len(rows) > 0 {
			return rows, nil
		}
		if err := k.add(ctx, "", now, now); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the store keeps no signing key")
}

// add creates a key pair and stores it after the newest key that was read.
func (k *Keys) add(ctx context.Context, after string, created, activeAt time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate signing key: %w", err)
	}
	raw, err := private.Bytes()
	if err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}
	key := Key{ID: id.New(id.SigningKey, created), CreatedAt: created, ActiveAt: activeAt}
	if key.Sealed, err = k.Keyring.Seal(place(key.ID), raw); err != nil {
		return fmt.Errorf("seal signing key: %w", err)
	}
	if err := k.Store.AddSigningKey(ctx, key, after, activeAt.Add(k.Lifetime+retireDelay)); err != nil {
		return fmt.Errorf("add signing key: %w", err)
	}
	return nil
}
