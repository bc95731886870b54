package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/partnerkit/partnerkit/storage"
)

// channel of LISTEN and NOTIFY. Schemas share it: the payload names the schema.
const channel = "partnerkit"

// Through a pooler LISTEN succeeds and nothing ever arrives, so Listen sends
// itself a word first and gives up when it does not come within probeWait.
const (
	probeTopic = "probe"
	probeWait  = 3 * time.Second
)

// silence is how long nothing may arrive before Listen asks whether the server is still there,
// and how long the server may take to respond.
var silence = 5 * time.Second

// Announce implements [storage.DB] with NOTIFY.
func (db *DB) Announce(ctx context.Context, topic string) error {
	_, err := db.Exec(ctx, "SELECT pg_notify($1, $2)", channel, db.payload(topic))
	return err
}

func (db *DB) payload(topic string) string { return db.cfg.Schema + " " + topic }

// Listen implements [storage.DB] with LISTEN, on a connection that it keeps.
func (db *DB) Listen(ctx context.Context, heard func(topic string)) error {
	if db.closed.Load() {
		return storage.ErrClosed
	}
	if db.pool != nil && db.direct == nil && db.pool.server.isShared {
		return fmt.Errorf("%w: a pooler shares connections, and no Config.DirectURL goes past it", storage.ErrNoListen)
	}
	if db.past().Stats().MaxOpenConnections == 1 {
		return fmt.Errorf("%w: it would take the only connection", storage.ErrNoListen)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-db.ending:
			cancel(storage.ErrClosed)
		case <-ctx.Done():
		}
	}()
	err := db.listenOn(ctx, heard)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (db *DB) listenOn(ctx context.Context, heard func(topic string)) error {
	conn, err := db.past().Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		direct, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("%w: the driver is not pgx", storage.ErrNoListen)
		}
		return db.listen(ctx, direct.Conn(), heard)
	})
}

func (db *DB) listen(ctx context.Context, conn *pgx.Conn, heard func(topic string)) error {
	// The connection goes back to the pool with a statement pending or a
	// subscription left; it must not be used for anything else.
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	if err := db.probe(ctx, conn); err != nil {
		return err
	}
	heard("") // what was announced before we listened
	for {
		note, err := await(ctx, conn)
		if err != nil {
			return err
		}
		if note == nil { // the server still responds
			continue
		}
		schema, topic, _ := strings.Cut(note.Payload, " ")
		if schema == db.cfg.Schema && topic != probeTopic {
			heard(topic)
		}
	}
}

// await returns the next notification. After a silence it asks whether the server is still
// there, and returns nil if it responds: nothing else tells a quiet server from one that is
// gone.
func await(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	note, err := conn.WaitForNotification(waiting)
	if err == nil || ctx.Err() != nil || waiting.Err() == nil {
		return note, err
	}
	asking, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	if err := conn.Ping(asking); err != nil {
		return nil, fmt.Errorf("the server does not respond: %w", err)
	}
	return nil, nil
}

// probe finds out whether announcements arrive here at all.
func (db *DB) probe(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	if err := db.Announce(waiting, probeTopic); err != nil {
		return err
	}
	for {
		note, err := conn.WaitForNotification(waiting)
		switch {
		case err != nil && ctx.Err() == nil && waiting.Err() != nil:
			return fmt.Errorf("%w: no notifications arrive on this connection; there may be a pooler in front of the server", storage.ErrNoListen)
		case err != nil:
			return err
		case note.Payload == db.payload(probeTopic):
			return nil
		}
	}
}
