package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// forever is a lease on a database that only this process has open.
const forever = 100 * 365 * 24 * time.Hour

// maxShards is how many shards of a kind there may be.
const maxShards = 1024

// makeShards makes the shards of a new database, and learns how many a database has.
func (s *Store) makeShards(ctx context.Context, shards int) error {
	if shards < 1 || shards > maxShards {
		return fmt.Errorf("shards: %d is not from 1 to %d", shards, maxShards)
	}
	err := s.read(ctx, "SELECT shards FROM partnerkit_sharding WHERE id = 1", nil, &s.shards)
	if !errors.Is(err, storage.ErrNoRows) {
		return wrap("shards", err)
	}
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		_, err := tx.exec(ctx, "INSERT INTO partnerkit_sharding (id, shards) VALUES (1, $1) ON CONFLICT (id) DO NOTHING", shards)
		if err == nil { // another node may have been faster
			err = tx.one(ctx, "SELECT shards FROM partnerkit_sharding WHERE id = 1", nil, &s.shards)
		}
		rows := [][]any{{string(consoleFeed.Kind), consoleFeed.Number, "", 0, 0, 0}}
		for i := range s.shards {
			rows = append(rows, []any{string(webhookstore.PlanShard), i, "", 0, 0, 0}, []any{string(webhookstore.SendShard), i, "", 0, 0, 0})
		}
		if err != nil {
			return err
		}
		return tx.upsertMany(ctx, "INSERT INTO partnerkit_shard (kind, id, holder, epoch, lease_ends, news) VALUES", rows, " ON CONFLICT (kind, id) DO NOTHING")
	})
	return wrap("make shards", err)
}

// freeShards takes the shards from dispatchers of a process that had the database
// before: it is gone.
func (s *Store) freeShards(ctx context.Context) error {
	_, err := s.exec(ctx, "UPDATE partnerkit_shard SET holder = '', lease_ends = 0 WHERE holder <> ''")
	if err == nil {
		_, err = s.exec(ctx, "DELETE FROM partnerkit_dispatcher")
	}
	return wrap("free shards", err)
}

// unlocked ends a SELECT that skips locked rows and locks the others: a node that hangs in
// a transaction does not block other nodes.
func unlocked(d storage.Dialect) string {
	return d.ForUpdate + d.SkipLocked
}

// Beat implements webhookstore.Store. On a database of one process it writes once.
func (s *Store) Beat(ctx context.Context, node string, lease time.Duration) (webhookstore.Fleet, error) {
	var fleet webhookstore.Fleet
	if s.db.Dialect().IsOneProcess {
		lease = forever
		var known sql.NullInt64
		err := s.read(ctx, "SELECT lease_ends FROM partnerkit_dispatcher WHERE id = $1", []any{node}, &known)
		if err == nil {
			fleet, err = s.fleet(ctx, s)
			return fleet, wrap("fleet", err)
		}
		if !errors.Is(err, storage.ErrNoRows) {
			return fleet, wrap("fleet", err)
		}
	}
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		_, err := tx.exec(ctx, `INSERT INTO partnerkit_dispatcher (id, lease_ends) VALUES ($1, `+tx.dialect.Now+` + $2)
			ON CONFLICT (id) DO UPDATE SET lease_ends = excluded.lease_ends`, node, lease.Milliseconds())
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `DELETE FROM partnerkit_dispatcher WHERE id IN (
			SELECT id FROM partnerkit_dispatcher WHERE lease_ends <= `+tx.dialect.Now+unlocked(tx.dialect)+")"); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "UPDATE partnerkit_shard SET lease_ends = "+tx.dialect.Now+" + $2 WHERE holder = $1", node, lease.Milliseconds()); err != nil {
			return err
		}
		fleet, err = s.fleet(ctx, tx.on)
		return err
	})
	return fleet, wrap("beat", err)
}

func (s *Store) fleet(ctx context.Context, from storage.Querier) (webhookstore.Fleet, error) {
	var fleet webhookstore.Fleet
	now := s.db.Dialect().Now
	if err := storage.One(ctx, from, s.sql.of("SELECT COUNT(*) FROM partnerkit_dispatcher WHERE lease_ends > "+now), nil, &fleet.Nodes); err != nil {
		return fleet, err
	}
	err := storage.Each(ctx, from, s.sql.of("SELECT kind, id, holder, epoch, lease_ends - "+now+" FROM partnerkit_shard WHERE kind <> 'console' ORDER BY kind, id"), nil, func(scan func(...any) error) error {
		var shard webhookstore.Shard
		var left int64
		err := scan((*string)(&shard.Kind), &shard.Number, &shard.Holder, &shard.Epoch, &left)
		shard.LeaseLeft = time.Duration(left) * time.Millisecond
		fleet.Shards = append(fleet.Shards, shard)
		return err
	})
	return fleet, err
}

// heldShards returns the shards of a kind that a node holds, with their epochs. On
// PostgreSQL it also keeps others from taking them until the operation has ended, and, of two
// operations that plan, lets one go first.
func (t *tx) heldShards(ctx context.Context, kind webhookstore.ShardKind, node string) (map[int]int64, error) {
	held, lock := map[int]int64{}, t.dialect.ForShare
	if kind == webhookstore.PlanShard { // the feed of one of them is written afterwards
		lock = t.dialect.ForUpdate
	}
	err := storage.Each(ctx, t.on, t.sql.of("SELECT id, epoch FROM partnerkit_shard WHERE kind = $1 AND holder = $2 ORDER BY id"+lock), []any{string(kind), node},
		func(scan func(...any) error) error {
			var shard int
			var epoch int64
			err := scan(&shard, &epoch)
			held[shard] = epoch
			return err
		})
	return held, err
}

// TakeShard implements webhookstore.Store.
func (s *Store) TakeShard(ctx context.Context, node string, seen webhookstore.Shard, lease time.Duration) (bool, error) {
	d := s.db.Dialect()
	if d.IsOneProcess {
		lease = forever
	}
	n, err := s.exec(ctx, "UPDATE partnerkit_shard SET holder = $3, epoch = epoch + 1, lease_ends = "+d.Now+` + $5 WHERE kind = $1 AND id = (
		SELECT id FROM partnerkit_shard WHERE kind = $1 AND id = $2 AND epoch = $4 AND (holder = '' OR lease_ends <= `+d.Now+")"+unlocked(d)+")",
		string(seen.Kind), seen.Number, node, seen.Epoch, lease.Milliseconds())
	return n == 1, wrap("take shard", err)
}

// ReleaseShards implements webhookstore.Store.
func (s *Store) ReleaseShards(ctx context.Context, node string, shards []webhookstore.ShardID) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		for _, shard := range shards {
			n, err := tx.exec(ctx, "UPDATE partnerkit_shard SET holder = '', lease_ends = 0 WHERE kind = $1 AND id = $2 AND holder = $3", string(shard.Kind), shard.Number, node)
			if err != nil {
				return err
			}
			if n > 0 {
				tx.hint(storage.Hint{Topic: webhookstore.TopicShards})
			}
		}
		return nil
	})
	return wrap("release shards", err)
}

// LeaveShards implements webhookstore.Store.
func (s *Store) LeaveShards(ctx context.Context, node string) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.exec(ctx, "UPDATE partnerkit_shard SET holder = '', lease_ends = 0 WHERE holder = $1", node); err != nil {
			return err
		}
		tx.hint(storage.Hint{Topic: webhookstore.TopicShards})
		_, err := tx.exec(ctx, "DELETE FROM partnerkit_dispatcher WHERE id = $1", node)
		return err
	})
	return wrap("leave shards", err)
}
