package oauthserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	// keyLeadTime is how long a new key is published before it signs. The list
	// of a node may be 30 seconds old, a cache between the node and a verifier
	// may keep what it said for keySetMaxAge, and the verifier may keep that
	// once more for as long: an hour covers all of it with room to spare.
	keyLeadTime = time.Hour
	// keyAfterlife is how long a key stays published after its successor began
	// to sign: the life of the last token that it signed, and a minute for nodes
	// whose clocks disagree about when that was.
	keyAfterlife = SessionTokenLifetime + time.Minute
	// defaultKeyRotation is how long a key is the youngest.
	defaultKeyRotation = 90 * 24 * time.Hour
	// keyAttempts bounds the readings of a store on which no key ever appears.
	keyAttempts = 3
)

// RotateSigningKey makes a new key for session tokens. It is published at once,
// signs after an hour, and the keys before it stay published until every token
// that they signed has expired. When several nodes rotate at the same time one of
// them does, and all return nil. Errors wrap [ErrInternal].
func (s *Server) RotateSigningKey(ctx context.Context) error {
	return s.keys.rotate(ctx, s.cfg.Clock.Now())
}

func (k *signingKeys) rotate(ctx context.Context, now time.Time) error {
	rows, err := k.store.SigningKeys(ctx, now)
	if err != nil {
		return fmt.Errorf("%w: signing keys: %w", ErrInternal, err)
	}
	if len(rows) == 0 {
		_, err := k.rows(ctx, now)
		return err
	}
	return k.succeed(ctx, rows[len(rows)-1], now)
}

// tend seals keys with the keyring's first key, and makes a new one when the youngest is
// that old; never when age is not above 0. One reading gives both its age and whom the
// new one follows: of several nodes that find it old, one rotates. A key that cannot be
// opened does not stop it.
func (k *signingKeys) tend(ctx context.Context, now time.Time, age time.Duration) error {
	rows, err := k.store.SigningKeys(ctx, now)
	if err != nil {
		return fmt.Errorf("%w: signing keys: %w", ErrInternal, err)
	}
	for _, row := range rows {
		err = errors.Join(err, k.reseal(ctx, row))
	}
	if age > 0 && len(rows) > 0 && now.Sub(rows[len(rows)-1].CreatedAt) >= age {
		err = errors.Join(err, k.succeed(ctx, rows[len(rows)-1], now))
	}
	return err
}

func (k *signingKeys) reseal(ctx context.Context, row SigningKey) error {
	if !k.ring.NeedsReseal(row.Sealed) {
		return nil
	}
	raw, err := k.ring.Open(signingKeyPlace(row.ID), row.Sealed)
	if err != nil {
		return fmt.Errorf("%w: signing key %s: %w", ErrInternal, row.ID, err)
	}
	sealed, err := k.ring.Seal(signingKeyPlace(row.ID), raw)
	if err != nil {
		return fmt.Errorf("%w: seal signing key: %w", ErrInternal, err)
	}
	if err := k.store.ResealSigningKey(ctx, row.ID, row.Sealed, sealed); err != nil {
		return fmt.Errorf("%w: reseal signing key: %w", ErrInternal, err)
	}
	return nil
}

// succeed makes the key that follows the youngest.
func (k *signingKeys) succeed(ctx context.Context, youngest SigningKey, now time.Time) error {
	// Each key is younger than the last and signs later, also when two are made
	// within one instant or by nodes whose clocks disagree.
	created := laterOf(now, youngest.CreatedAt.Add(time.Millisecond))
	activeAt := laterOf(now.Add(keyLeadTime), youngest.ActiveAt.Add(time.Millisecond))
	if err := k.add(ctx, youngest.ID, created, activeAt); err != nil {
		return err
	}
	k.list.Store(nil) // whoever asks this node next sees the new key
	return nil
}

// rows lists the keys of the store. Without any it makes the first one, which
// signs at once: nobody can have a key set that lacks it. Of several nodes that
// do so one wins, and the others find its key.
func (k *signingKeys) rows(ctx context.Context, now time.Time) ([]SigningKey, error) {
	for range keyAttempts {
		rows, err := k.store.SigningKeys(ctx, now)
		if err != nil {
			return nil, fmt.Errorf("%w: signing keys: %w", ErrInternal, err)
		}
		if len(rows) > 0 {
			return rows, nil
		}
		if err := k.add(ctx, "", now, now); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the store keeps no signing key", ErrInternal)
}

// add makes a key pair and adds it after the youngest known key. That another
// node was first is as good.
func (k *signingKeys) add(ctx context.Context, after string, created, activeAt time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("%w: generate signing key: %w", ErrInternal, err)
	}
	raw, err := private.Bytes()
	if err != nil {
		return fmt.Errorf("%w: encode signing key: %w", ErrInternal, err)
	}
	key := SigningKey{ID: id.New(id.SigningKey, created), CreatedAt: created, ActiveAt: activeAt}
	if key.Sealed, err = k.ring.Seal(signingKeyPlace(key.ID), raw); err != nil {
		return fmt.Errorf("%w: seal signing key: %w", ErrInternal, err)
	}
	err = k.store.AddSigningKey(ctx, key, after, activeAt.Add(keyAfterlife))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w: add signing key: %w", ErrInternal, err)
	}
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
