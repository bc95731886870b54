package webhooks

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
)

// delivery is a job: a webhook that is to be sent.
type delivery struct {
	Endpoint int    `json:"endpoint"`
	ID       string `json:"id"`
	EventID  string `json:"eventId"`
	Body     string `json:"body"` // text: the database would rewrite JSON
}

func (delivery) Kind() string { return "delivery" }

// deliverer makes the signed post of a job.
type deliverer struct {
	river.WorkerDefaults[delivery]
	to   []endpoint
	post func(to endpoint, deliveryID, eventID string, body []byte) error
}

func (d *deliverer) Work(_ context.Context, job *river.Job[delivery]) error {
	return d.post(d.to[job.Args.Endpoint], job.Args.ID, job.Args.EventID, []byte(job.Args.Body))
}

// riverSender is a minimal sender on River: it inserts a job in the host's transaction,
// posts it, and River records that it is completed.
type riverSender struct {
	pool      *pgxpool.Pool
	client    *river.Client[pgx.Tx]
	completed <-chan *river.Event
	stopped   func()
	receiver  *receiver
}

// newRiver sets one up as its documentation does: a pool, a queue with 100 workers and
// the default for everything else. fetch, unless it is 0, is how often it looks for
// jobs at most, in place of its default of 100 ms.
func newRiver(dsn, schema string, workers int, fetch time.Duration, r *receiver) (*riverSender, error) {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	s := &riverSender{pool: pool, receiver: r, stopped: func() {}}
	if _, err := pool.Exec(ctx, `CREATE SCHEMA "`+schema+`"`); err != nil {
		return s, err
	}
	driver, logger := riverpgxv5.New(pool), slog.New(slog.NewTextHandler(io.Discard, nil))
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: schema, Logger: logger})
	if err != nil {
		return s, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return s, err
	}
	all := river.NewWorkers()
	river.AddWorker(all, &deliverer{to: r.endpoints, post: newPoster(max(perEndpoint, workers/endpoints)).post})
	s.client, err = river.NewClient(driver, &river.Config{
		Schema: schema, Logger: logger, Workers: all, FetchCooldown: fetch,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
	})
	if err != nil {
		return s, err
	}
	s.completed, s.stopped = s.client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 100_000, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	return s, s.client.Start(ctx)
}

func (s *riverSender) close() {
	if s == nil {
		return
	}
	if s.client != nil {
		_ = s.client.Stop(context.Background())
	}
	s.stopped()
	s.pool.Close()
}

// endToEnd inserts jobs in the transactions that ours records events in, and waits
// until all are completed.
func (s *riverSender) endToEnd(name string, n int) bench.Side {
	return bench.Side{Name: name, Each: n, Do: func(n int) error {
		before := s.receiver.arrived.Load()
		if err := bench.Parallel(recorders, n, s.insert); err != nil {
			return err
		}
		late := time.After(2 * time.Minute)
		for i := range n {
			select {
			case <-s.completed:
			case <-late:
				return fmt.Errorf("%d of %d jobs are completed", i, n)
			}
		}
		if got := s.receiver.arrived.Load() - before; got != int64(n) {
			return fmt.Errorf("%d posts arrived, want %d", got, n)
		}
		return nil
	}}
}

func (s *riverSender) insert(recorder, n int) error {
	ctx := context.Background()
	for at := recorder; n > 0; at += recorders {
		jobs := make([]river.InsertManyParams, min(n, perTransaction))
		for i := range jobs {
			jobs[i].Args = delivery{Endpoint: at % endpoints, ID: someDelivery, EventID: someEvent, Body: string(filler)}
		}
		n -= len(jobs)
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			inserted, err := s.client.InsertManyFastTx(ctx, tx, jobs)
			if err == nil && inserted != len(jobs) {
				err = fmt.Errorf("%d of %d jobs were inserted", inserted, len(jobs))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
