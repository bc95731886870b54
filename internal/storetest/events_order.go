package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// EVT-05: a reader that follows the pages from any cursor gets every event that it may see
// exactly once, in one order, while transactions of any length commit and roll back.
var eventOrderCases = []testCase[partnerkit.Store]{
	{"Paging while others write", func(t *testing.T, e partnerkit.Store) {
		p := newOrderProof(t, e)
		var writers, readers sync.WaitGroup
		for i := range 16 {
			writers.Go(func() { p.write(t, i) })
		}
		for _, business := range p.businesses {
			for app := range p.apps {
				readers.Go(func() { p.follow(t, business, app, "") })
			}
		}
		for i := range 8 {
			readers.Go(func() { p.followFromAnywhere(t, i) })
		}
		for range 2 {
			readers.Go(func() { p.number(t) })
		}
		writers.Wait()
		p.written.Store(true)
		readers.Wait()
		p.check(t)
	}},
}

type orderProof struct {
	partnerkit.Store
	log        *events.Log
	clock      *clock.Manual
	businesses []string
	apps       map[string]identity.Scopes
	written    atomic.Bool // all of it

	mu         sync.Mutex
	committed  map[string][][]partner.Event // by business, the calls of all writers
	rolledBack []partner.Event
	seen       map[string][]string // by business, all ids that readers got
	readings   []reading
}

// reading holds the events that a reader got from a cursor to the end.
type reading struct {
	business, app, after string
	ids                  []string
}

func newOrderProof(t *testing.T, e partnerkit.Store) *orderProof {
	t.Helper()
	p := &orderProof{
		Store: e, clock: clock.NewManual(noon), businesses: []string{newBusiness(), newBusiness()},
		apps: map[string]identity.Scopes{
			"app_1": identity.MustScopes("invoices:read", "customers:read"),
			"app_2": identity.MustScopes("customers:read"),
		},
		committed: map[string][][]partner.Event{}, seen: map[string][]string{},
	}
	p.log = get[*events.Log](t)(events.New(events.Config{Store: e, Clock: p.clock}))
	return p
}

// write commits transactions, and gives up some.
func (p *orderProof) write(t *testing.T, writer int) {
	random := rand.New(rand.NewPCG(1, uint64(writer)))
	for range testenv.Rounds(8, 150) {
		var err error
		if random.IntN(3) == 0 {
			err = p.recordAlone(t.Context(), random)
		} else {
			err = p.transact(t.Context(), random)
		}
		if err != nil && !errors.Is(err, storage.ErrBusy) { // on a slow machine; it never ran
			t.Error(err)
		}
	}
}

// recordAlone records without a transaction of the host's.
func (p *orderProof) recordAlone(ctx context.Context, random *rand.Rand) error {
	made, err := p.record(ctx, random)
	if err == nil {
		p.note(made)
	}
	return err
}

func (p *orderProof) transact(ctx context.Context, random *rand.Rand) error {
	var calls [][]partner.Event
	isLong, rollsBack := random.IntN(3) == 0, random.IntN(4) == 0
	err := p.Transact(ctx, func(ctx context.Context) error {
		calls = nil // it may run again
		for range 1 + random.IntN(3) {
			made, err := p.record(ctx, random)
			if err != nil {
				return err
			}
			calls = append(calls, made)
			if isLong {
				time.Sleep(rand.N(5 * time.Millisecond))
			}
		}
		if rollsBack {
			return errTransact
		}
		return nil
	})
	if errors.Is(err, errTransact) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rolledBack = append(p.rolledBack, slices.Concat(calls...)...)
		return nil
	}
	if err == nil {
		p.note(calls...)
	}
	return err
}

// record makes some events in one business.
func (p *orderProof) record(ctx context.Context, random *rand.Rand) ([]partner.Event, error) {
	business := p.businesses[random.IntN(len(p.businesses))]
	drafts := make([]events.Draft, 1+random.IntN(4))
	for i := range drafts {
		drafts[i] = events.Draft{Type: "invoice.created", BusinessID: business, Data: struct{}{}}
		switch random.IntN(3) {
		case 0:
			drafts[i].Type = "customer.created"
		case 1:
			drafts[i].Type, drafts[i].AppID = events.AppScopesUpdated, fmt.Sprint("app_", 1+random.IntN(2))
		}
	}
	p.clock.Advance(time.Millisecond)
	return p.log.Record(ctx, drafts...)
}

func (p *orderProof) note(calls ...[]partner.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, made := range calls {
		p.committed[made[0].BusinessID] = append(p.committed[made[0].BusinessID], made)
	}
}

// number gives numbers too, as the planner does.
func (p *orderProof) number(t *testing.T) {
	for !p.written.Load() {
		for _, business := range p.businesses {
			if _, err := p.NumberEvents(t.Context(), business); err != nil && !errors.Is(err, storage.ErrBusy) {
				t.Error(err)
				return
			}
		}
		time.Sleep(rand.N(5 * time.Millisecond))
	}
}

// follow pages until everything is written and read.
func (p *orderProof) follow(t *testing.T, business, app, after string) {
	got := reading{business: business, app: app, after: after}
	hasMore := false
	for cursor := after; ; {
		wasWritten := p.written.Load()
		limit := 1 + rand.N(7)
		if hasMore && rand.N(2) == 0 {
			limit = 100 // a reader that lags behind would not see an event inserted before others
		}
		var ids []string
		var err error
		ids, hasMore, err = p.read(t.Context(), business, app, cursor, limit)
		if errors.Is(err, storage.ErrBusy) {
			continue
		}
		if err != nil || hasMore && len(ids) != limit || len(ids) > limit {
			t.Errorf("a page of %d: %d events, more: %v, %v", limit, len(ids), hasMore, err)
			return
		}
		if len(ids) > 0 {
			cursor = ids[len(ids)-1]
		}
		got.ids = append(got.ids, ids...)
		p.mu.Lock()
		p.seen[business] = append(p.seen[business], ids...)
		p.mu.Unlock()
		if wasWritten && !hasMore {
			break
		}
		if len(ids) == 0 {
			time.Sleep(rand.N(2 * time.Millisecond))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readings = append(p.readings, got)
}

// followFromAnywhere begins at cursors that readers got, including readers that may see
// events that this app may not.
func (p *orderProof) followFromAnywhere(t *testing.T, reader int) {
	business := p.businesses[reader%len(p.businesses)]
	for {
		time.Sleep(rand.N(50 * time.Millisecond))
		p.mu.Lock()
		cursors := slices.Clone(p.seen[business])
		p.mu.Unlock()
		if len(cursors) > 0 {
			p.follow(t, business, fmt.Sprint("app_", 1+reader%2), cursors[rand.N(len(cursors))])
			return
		}
	}
}

// read is a call of the Events API.
func (p *orderProof) read(ctx context.Context, business, app, after string, limit int) (ids []string, hasMore bool, err error) {
	target := fmt.Sprint("/events?limit=", limit)
	if after != "" {
		target += "&after=" + after
	}
	r := httptest.NewRequestWithContext(identity.WithPrincipal(ctx, identity.Principal{
		AppID: app, BusinessID: business, Scopes: p.apps[app],
	}), "GET", target, nil)
	w := httptest.NewRecorder()
	if err := p.log.List(w, r); err != nil {
		return nil, false, err
	}
	var page struct {
		Events  []struct{ ID string }
		HasMore bool
	}
	err = json.Unmarshal(w.Body.Bytes(), &page)
	for _, e := range page.Events {
		ids = append(ids, e.ID)
	}
	return ids, page.HasMore, err
}

func (p *orderProof) check(t *testing.T) {
	t.Helper()
	for _, business := range p.businesses {
		order := p.order(t, business)
		for _, got := range p.readings {
			if got.business == business {
				if diff := cmp.Diff(p.expected(order, got), got.ids); diff != "" {
					t.Errorf("%s read %s after %q (-want +got)\n%s", got.app, business, got.after, diff)
				}
			}
		}
	}
	for _, made := range p.rolledBack {
		if found := get[[]partner.Event](t)(p.Events(t.Context(), eventstore.Query{BusinessID: made.BusinessID, EventID: made.ID})); len(found) != 0 {
			t.Errorf("an event that was rolled back: %v", found)
		}
	}
	t.Logf("%d calls of Record, %d readings", len(p.committed[p.businesses[0]]), len(p.readings))
}

// order returns the committed events of a business by their numbers, which are unique
// and keep the order within each call.
func (p *orderProof) order(t *testing.T, business string) []partner.Event {
	t.Helper()
	var order []partner.Event
	numbers := map[int64]bool{0: true}
	for _, made := range p.committed[business] {
		last := int64(0)
		for _, e := range made {
			got := event(t, p, business, e.ID)
			if numbers[got.Number] || got.Number <= last {
				t.Fatalf("%s has the number %d after %d", e.ID, got.Number, last)
			}
			last, numbers[got.Number] = got.Number, true
			order = append(order, got)
		}
	}
	slices.SortFunc(order, func(a, b partner.Event) int { return int(a.Number - b.Number) })
	return order
}

// expected returns the events that a reader should have got, given the order.
func (p *orderProof) expected(order []partner.Event, got reading) []string {
	var want []string
	from := slices.IndexFunc(order, func(e partner.Event) bool { return e.ID == got.after }) + 1
	for _, e := range order[from:] {
		definition, _ := p.log.Catalog().Lookup(e.Type)
		viewer := events.Viewer{AppID: got.app, AppScopes: p.apps[got.app], IsInstalled: true, InstallationScopes: p.apps[got.app]}
		if definition.IsVisible(e.AppID, viewer) {
			want = append(want, e.ID)
		}
	}
	return want
}
