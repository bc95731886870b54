package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const eventType = "invoice.created"

// Each app is installed in some businesses, which record events in transactions of so
// many, as a bulk import does, and so many at a time.
const (
	businessesPerApp = 4
	perTransaction   = 50
	recorders        = 4
)

// sender is our service on a store, with an app and a webhook for each endpoint.
type sender struct {
	*sqlstore.Store
	receiver   *receiver
	ring       *keyring.Keyring
	svc        *webhooks.Service
	log        *events.Log
	businesses []string
	data       json.RawMessage // of an event, such that a body has its length

	left atomic.Int64 // deliveries that have no recorded 2xx
	done chan struct{}
}

func newSender(store *sqlstore.Store, r *receiver) (*sender, error) {
	s := &sender{Store: store, receiver: r, ring: fixture.Keyring(0), done: make(chan struct{}, 1)}
	var err error
	if s.svc, err = webhooks.New(webhooks.Config{Store: s, Keyring: s.ring, Options: webhooks.Options{AllowLoopback: true}}); err != nil {
		return nil, err
	}
	if s.log, err = events.New(events.Config{Store: store}); err != nil {
		return nil, err
	}
	for _, e := range r.endpoints {
		if err := s.app(e); err != nil {
			return nil, err
		}
	}
	s.data = json.RawMessage(`{"text":"` + strings.Repeat("x", bodyBytes-len(s.emptyBody())-len(`{"text":""}`)) + `"}`)
	return s, nil
}

// emptyBody is as long as a body without its data.
func (s *sender) emptyBody() string {
	return fmt.Sprintf(`{"id":%q,"eventId":%q,"type":%q,"apiVersion":"","businessId":%q,"created":%d,"data":}`,
		someDelivery, someEvent, eventType, s.businesses[0], time.Now().Unix())
}

// app makes one with a webhook, and installs it.
func (s *sender) app(e endpoint) error {
	ctx, now := context.Background(), time.Now()
	app := fixture.App(now, identity.MustScopes("invoices:read", "customers:read"))
	if err := fixture.AddApp(ctx, s, app); err != nil {
		return err
	}
	for range businessesPerApp {
		business := id.New(id.Business, now)
		consent := fixture.Consent{App: app, BusinessID: business, UserID: "usr_1", Scopes: app.Scopes, Now: now}
		if _, _, err := fixture.Approve(ctx, s, consent); err != nil {
			return err
		}
		s.businesses = append(s.businesses, business)
	}
	_, _, err := s.svc.Create(ctx, webhooks.NewWebhook{AppID: app.ID, URL: e.url, Events: []string{eventType}, Secret: e.secret})
	return err
}

// FinishAttempts counts what was delivered, once that is committed.
func (s *sender) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	done, err := s.Store.FinishAttempts(ctx, f)
	if err != nil {
		return done, err
	}
	delivered := int64(0)
	for _, o := range f.Outcomes {
		if o.Status == partner.DeliveryDelivered {
			delivered++
		}
	}
	if s.left.Add(-delivered) == 0 && delivered > 0 {
		s.done <- struct{}{}
	}
	return done, nil
}

// start runs a service until the returned function is called.
func start(svc *webhooks.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = svc.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// expect counts from now on; what it returns waits until n deliveries have a recorded
// 2xx.
func (s *sender) expect(n int) (await func() error) {
	s.left.Store(int64(n))
	before := s.receiver.arrived.Load()
	return func() error {
		select {
		case <-s.done:
		case <-time.After(2 * time.Minute):
			return fmt.Errorf("%d of %d deliveries are left", s.left.Load(), n)
		}
		if got := s.receiver.arrived.Load() - before; got != int64(n) {
			return fmt.Errorf("%d posts arrived, want %d", got, n)
		}
		return nil
	}
}

// record records n events, each in one of the businesses.
func (s *sender) record(n int) error {
	ctx := context.Background()
	return bench.Parallel(recorders, n, func(g, n int) error {
		for at := g; n > 0; at += recorders {
			drafts := make([]events.Draft, min(n, perTransaction))
			for i := range drafts {
				drafts[i] = events.Draft{Type: eventType, BusinessID: s.businesses[at%len(s.businesses)], Data: s.data}
			}
			n -= len(drafts)
			tx, err := s.BeginTx(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := s.log.RecordIn(ctx, tx, drafts...); err != nil {
				return err
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// plan turns all recorded events into deliveries, and sends none.
func (s *sender) plan() error {
	planning := &planOnly{s.Store}
	svc, err := webhooks.New(webhooks.Config{Store: planning, Keyring: s.ring})
	if err != nil {
		return err
	}
	stop := start(svc)
	defer stop()
	for {
		left, err := s.Backlogs(context.Background(), nil)
		if err != nil || len(left) == 0 {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// planOnly is a store in which nothing is ever due.
type planOnly struct{ *sqlstore.Store }

func (planOnly) News(context.Context, webhookstore.NewsPlace) (webhookstore.News, error) {
	return webhookstore.News{Place: webhookstore.NewsPlace{}}, nil
}

func (planOnly) QueuedWebhooks(context.Context, []int) ([]webhookstore.DueWebhook, error) {
	return nil, nil
}

// draining sends what was planned before the turn. stop ends the last one.
func (s *sender) draining(n int) (side bench.Side, stop func()) {
	stopLast := func() {}
	return bench.Side{
		Name: "draining", Each: n,
		Before: func(n int) error {
			stopLast()
			if err := s.record(n); err != nil {
				return err
			}
			return s.plan()
		},
		Do: func(n int) error {
			await := s.expect(n)
			stopLast = start(s.svc)
			return await()
		},
	}, func() { stopLast() }
}

// endToEnd records events while the service runs, and waits for the last recorded 2xx.
func (s *sender) endToEnd(n int) bench.Side {
	return bench.Side{Name: "end to end", Each: n, Do: func(n int) error {
		await := s.expect(n)
		if err := s.record(n); err != nil {
			return err
		}
		return await()
	}}
}
