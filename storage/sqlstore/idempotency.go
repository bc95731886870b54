package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/storage"
)

var _ keystore.Store = (*Store)(nil)

// maxClaims is how often a claim is made again when the key that stood in its way
// was gone at the second look.
const maxClaims = 3

// ClaimKey implements keystore.Store. One conditional write selects the owner. Only a
// request that did not win reads the key. The key may change between the write and the
// read; then ClaimKey returns the newer state. A key whose owner belonged to an earlier
// process is free, as one whose lease has ended is.
func (s *Store) ClaimKey(ctx context.Context, c keystore.Claim) (keystore.Claimed, error) {
	for range maxClaims {
		n, err := s.exec(ctx, `INSERT INTO partnerkit_idempotency_key AS k (app_id, business_id, name, fingerprint, owner, lease_ends, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (app_id, business_id, name) DO UPDATE SET
				fingerprint = excluded.fingerprint, owner = excluded.owner, lease_ends = excluded.lease_ends, expires_at = excluded.expires_at,
				status = NULL, header = NULL, body = NULL, is_omitted = NULL
			WHERE (k.expires_at <= $8 AND (k.status IS NOT NULL OR k.lease_ends <= $9))
				OR (k.status IS NULL AND k.fingerprint = excluded.fingerprint
					AND (k.lease_ends <= $9 OR SUBSTR(k.owner, 1, LENGTH(CAST($10 AS TEXT))) <> $10))`,
			c.CallerID, c.BusinessID, c.Key, c.Fingerprint[:], s.process+c.Owner, ms(c.LeaseEnds), ms(c.ExpiresAt), ms(c.At.Now), ms(c.At.Real), s.process)
		if err != nil {
			return keystore.Claimed{}, wrap("claim key", err)
		}
		if n == 1 {
			return keystore.Claimed{State: keystore.Owned}, nil
		}
		claimed, err := s.takenKey(ctx, c)
		if !errors.Is(err, storage.ErrNoRows) {
			return claimed, wrap("claim key", err)
		}
	}
	// Others come and go under this key; the next request finds it settled.
	return keystore.Claimed{State: keystore.Running}, nil
}

// takenKey returns the state of a key that a claim did not get.
func (s *Store) takenKey(ctx context.Context, c keystore.Claim) (keystore.Claimed, error) {
	var (
		fingerprint, body []byte
		status            sql.NullInt64
		header            sql.NullString
		isOmitted         sql.NullBool
	)
	err := s.read(ctx, `SELECT fingerprint, status, header, body, is_omitted FROM partnerkit_idempotency_key
		WHERE app_id = $1 AND business_id = $2 AND name = $3`, []any{c.CallerID, c.BusinessID, c.Key}, &fingerprint, &status, &header, &body, &isOmitted)
	switch {
	case err != nil:
		return keystore.Claimed{}, err
	case !bytes.Equal(fingerprint, c.Fingerprint[:]):
		return keystore.Claimed{State: keystore.Mismatch}, nil
	case !status.Valid:
		return keystore.Claimed{State: keystore.Running}, nil
	}
	response := keystore.Response{Status: int(status.Int64), Body: body, IsOmitted: isOmitted.Bool}
	if err := json.Unmarshal([]byte(header.String), &response.Header); err != nil {
		return keystore.Claimed{}, fmt.Errorf("stored header: %w", err)
	}
	return keystore.Claimed{State: keystore.Responded, Response: response}, nil
}

// RenewKey implements keystore.Store. A key that has received its response still belongs
// to its owner.
func (s *Store) RenewKey(ctx context.Context, o keystore.Hold, leaseEnds time.Time) error {
	n, err := s.exec(ctx, `UPDATE partnerkit_idempotency_key SET lease_ends = $5
		WHERE app_id = $1 AND business_id = $2 AND name = $3 AND owner = $4`, o.CallerID, o.BusinessID, o.Key, s.process+o.Owner, ms(leaseEnds))
	return wrap("renew key", lostWhenNone(n, err))
}

// FinishKey implements keystore.Store. In a transaction of the host's it runs
// without a savepoint: when it fails, the host's work must fail with it, so
// there is nothing to save.
func (s *Store) FinishKey(ctx context.Context, tx storage.Tx, o keystore.Hold, a keystore.Response) error {
	header, err := encodeHeader(a.Header)
	if err != nil {
		return wrap("finish key", err)
	}
	const finish = `UPDATE partnerkit_idempotency_key SET status = $5, header = $6, body = $7, is_omitted = $8
		WHERE app_id = $1 AND business_id = $2 AND name = $3 AND owner = $4 AND status IS NULL`
	args := []any{o.CallerID, o.BusinessID, o.Key, s.process + o.Owner, a.Status, header, a.Body, a.IsOmitted}
	var n int64
	if tx == nil {
		n, err = s.exec(ctx, finish, args...)
	} else {
		n, err = tx.Exec(ctx, s.sql.of(finish), args...)
	}
	return wrap("finish key", lostWhenNone(n, err))
}

func encodeHeader(h http.Header) (string, error) {
	if h == nil {
		h = http.Header{}
	}
	text, err := json.Marshal(h)
	return string(text), err
}

// ReleaseKey implements keystore.Store.
func (s *Store) ReleaseKey(ctx context.Context, o keystore.Hold) error {
	_, err := s.exec(ctx, `DELETE FROM partnerkit_idempotency_key
		WHERE app_id = $1 AND business_id = $2 AND name = $3 AND owner = $4 AND status IS NULL`, o.CallerID, o.BusinessID, o.Key, s.process+o.Owner)
	return wrap("release key", err)
}

// purgeKeys deletes storage.PurgeKeys. The DELETE repeats the condition of its subquery, so
// that a key that is claimed again between the two is kept.
func (s *Store) purgeKeys(ctx context.Context, p storage.Purge) (int, error) {
	const isOld = "expires_at <= $1 AND (status IS NOT NULL OR lease_ends <= $2)"
	n, err := s.exec(ctx, "DELETE FROM partnerkit_idempotency_key WHERE "+isOld+` AND (app_id, business_id, name) IN (
		SELECT app_id, business_id, name FROM partnerkit_idempotency_key WHERE `+isOld+` ORDER BY expires_at LIMIT $3)`,
		ms(p.Before), ms(p.Real), p.Limit)
	return int(n), wrap("purge keys", err)
}

// lostWhenNone turns an update of nothing into the error of the interface.
func lostWhenNone(n int64, err error) error {
	if err == nil && n == 0 {
		return keystore.ErrLost
	}
	return err
}
