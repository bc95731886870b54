package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Transactions of the loop have as many events as those of the service.
const (
	planned  = 250
	finished = 500
)

// happening is one event of the loop.
type happening struct {
	event, delivery, business string
	endpoint                  int
	at                        time.Time
	took                      time.Duration
}

// bareRows returns the floor of an event until its 2xx is recorded: bare posts, and the rows that
// an event, its delivery and its attempt leave, written with the same statements, in
// transactions of the same size. It reads nothing, decides nothing and schedules nothing.
func (s *sender) bareRows(n int) bench.Side {
	p := newPoster(perEndpoint)
	return bench.Side{Name: "bare loop with rows", Each: n, Do: func(n int) error {
		recorded, queued, sent := make(chan []happening, recorders), make(chan happening, planned), make(chan happening, finished)
		errs := make(chan error, 3+recorders+endpoints*perEndpoint)
		var recording, sending, all sync.WaitGroup
		for g := range recorders {
			recording.Go(func() { errs <- s.bareRecord(g, n/recorders, recorded) })
		}
		all.Go(func() { recording.Wait(); close(recorded) })
		all.Go(func() { errs <- s.barePlan(recorded, queued); close(queued) })
		for range endpoints * perEndpoint {
			sending.Go(func() {
				for one := range queued {
					began := time.Now()
					if err := p.post(s.receiver.endpoints[one.endpoint], one.delivery, one.event, filler); err != nil {
						errs <- err
					}
					one.took = time.Since(began)
					sent <- one
				}
			})
		}
		all.Go(func() { sending.Wait(); close(sent) })
		all.Go(func() { errs <- s.bareFinish(sent) })
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}}
}

// write runs a transaction.
func (s *sender) write(do func(insert func(statement string, rows [][]any) error, exec func(statement string, args ...any) error) error) error {
	ctx := context.Background()
	tx, err := s.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	exec := func(statement string, args ...any) error {
		_, err := tx.Exec(ctx, s.qualified(statement), args...)
		return err
	}
	insert := func(statement string, rows [][]any) error {
		for len(rows) > 0 {
			part := rows[:min(len(rows), 64)]
			rows = rows[len(part):]
			var text strings.Builder
			var args []any
			for _, row := range part {
				text.WriteString(map[bool]string{true: " (", false: ", ("}[text.Len() == 0])
				for i, value := range row {
					if i > 0 {
						text.WriteByte(',')
					}
					args = append(args, value)
					fmt.Fprintf(&text, "$%d", len(args))
				}
				text.WriteByte(')')
			}
			if err := exec(statement+text.String(), args...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := do(insert, exec); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func (s *sender) qualified(statement string) string {
	if schema := s.Dialect().Schema; schema != "" {
		return strings.ReplaceAll(statement, "partnerkit_", `"`+schema+`".partnerkit_`)
	}
	return statement
}

func (s *sender) bareRecord(at, n int, recorded chan<- []happening) error {
	for ; n > 0; at += recorders {
		some := make([]happening, min(n, perTransaction))
		n -= len(some)
		var rows, outbox [][]any
		for i := range some {
			now := time.Now()
			one := happening{id.New(id.Event, now), id.New(id.Delivery, now), s.businesses[at%len(s.businesses)], at / businessesPerApp % endpoints, now, 0}
			some[i] = one
			rows = append(rows, []any{one.event, eventType, one.business, nil, string(s.data), now.UnixMilli()})
			// A shard of its own, which no node plans.
			outbox = append(outbox, []any{webhookstore.DefaultShards, one.business, 0, one.event, ""})
		}
		err := s.write(func(insert func(string, [][]any) error, _ func(string, ...any) error) error {
			if err := insert("INSERT INTO partnerkit_event (id, type, business_id, app_id, data, created_at) VALUES", rows); err != nil {
				return err
			}
			return insert("INSERT INTO partnerkit_outbox (shard, business_id, number, event_id, webhook_id) VALUES", outbox)
		})
		if err != nil {
			return err
		}
		recorded <- some
	}
	return nil
}

func (s *sender) barePlan(recorded <-chan []happening, queued chan<- happening) error {
	number := time.Now().UnixNano()
	for some := range recorded {
		for len(some) < planned {
			more, ok := <-recorded
			if !ok {
				break
			}
			some = append(some, more...)
		}
		err := s.write(func(insert func(string, [][]any) error, exec func(string, ...any) error) error {
			var numbers, deliveries, queue [][]any
			for _, one := range some {
				number++
				hook := fmt.Sprintf("whk_bare_%021d", one.endpoint)
				numbers = append(numbers, []any{one.event, one.business, "", eventType, number})
				deliveries = append(deliveries, []any{one.delivery, hook, "app_bare", one.event, eventType, one.business, filler, 0, one.at.UnixMilli(), 0, number, one.at.UnixMilli()})
				queue = append(queue, []any{webhookstore.DefaultShards, hook, one.at.UnixMilli(), one.delivery})
			}
			for from := 0; from < len(some); { // those of one business lie side by side
				to := from
				args := []any{some[from].business}
				var places []string
				for to < len(some) && to-from < 64 && some[to].business == some[from].business {
					args = append(args, some[to].event)
					places = append(places, fmt.Sprintf("$%d", len(args)))
					to++
				}
				if err := exec(fmt.Sprintf("DELETE FROM partnerkit_outbox WHERE shard = %d AND business_id = $1 AND number = 0 AND event_id >= '%s' AND event_id <= '%s' AND event_id IN (%s)",
					webhookstore.DefaultShards, some[from].event, some[to-1].event, strings.Join(places, ",")), args...); err != nil {
					return err
				}
				from = to
			}
			if err := insert("INSERT INTO partnerkit_event_number (event_id, business_id, app_id, type, number) VALUES", numbers); err != nil {
				return err
			}
			if err := insert("INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, attempts, next_attempt_at, round, sequence, created_at) VALUES", deliveries); err != nil {
				return err
			}
			return insert("INSERT INTO partnerkit_delivery_queue (shard, webhook_id, due_at, delivery_id) VALUES", queue)
		})
		if err != nil {
			return err
		}
		for _, one := range some {
			queued <- one
		}
	}
	return nil
}

func (s *sender) bareFinish(sent <-chan happening) error {
	for one := range sent {
		some := []happening{one}
		for more := true; more && len(some) < finished; {
			select {
			case one, ok := <-sent:
				if more = ok; ok {
					some = append(some, one)
				}
			case <-time.After(5 * time.Millisecond):
				more = false
			}
		}
		err := s.write(func(insert func(string, [][]any) error, exec func(string, ...any) error) error {
			var attempts [][]any
			slices.SortFunc(some, func(a, b happening) int { return cmp.Or(cmp.Compare(a.endpoint, b.endpoint), a.at.Compare(b.at)) })
			for from := 0; from < len(some); {
				to := from
				var args []any
				var places []string
				for to < len(some) && to-from < 64 && some[to].endpoint == some[from].endpoint {
					args = append(args, some[to].delivery)
					places = append(places, fmt.Sprintf("$%d", len(args)))
					to++
				}
				if err := exec(fmt.Sprintf("DELETE FROM partnerkit_delivery_queue WHERE shard = %d AND webhook_id = 'whk_bare_%021d' AND due_at >= %d AND due_at <= %d AND delivery_id IN (%s)",
					webhookstore.DefaultShards, some[from].endpoint, some[from].at.UnixMilli(), some[to-1].at.UnixMilli(), strings.Join(places, ",")), args...); err != nil {
					return err
				}
				from = to
			}
			for _, one := range some {
				attempts = append(attempts, []any{one.delivery, id.New(id.Attempt, one.at), 0, 1, "t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd", one.at.UnixMilli(), one.took.Milliseconds(), 204, nil, "{}", []byte{}})
			}
			return insert("INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms, response_code, error, response_headers, answer) VALUES", attempts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
