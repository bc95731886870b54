package grown

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// turn returns a number that differs each time, and jumps.
func (s *Service) turn() int { return int(s.next.Add(7919)) }

func (s *Service) token() *token { return &s.tokens[s.turn()%len(s.tokens)] }

// appOf returns the app that a token is for.
func (s *Service) appOf(t *token) app { return s.apps[t.row%s.installations()%len(s.apps)] }

// response is a response of the server.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *response) Header() http.Header         { return a.header }
func (a *response) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *response) WriteHeader(status int)      { a.status = status }

// send makes a request to the API host, and reads the JSON of the response.
func (s *Service) send(ctx context.Context, method, path, body string, header http.Header, status int, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header, r.RemoteAddr = header, "192.0.2.1:1234"
	w := &response{header: http.Header{}, status: http.StatusOK}
	s.Platform.API().ServeHTTP(w, r)
	if w.status != status {
		return fmt.Errorf("%s %s: status %d: %s", method, path, w.status, w.body.Bytes())
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(w.body.Bytes(), into)
}

func bearer(text string) http.Header { return http.Header{"Authorization": {"Bearer " + text}} }

func (a app) post() http.Header {
	r := http.Request{Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	r.SetBasicAuth(url.QueryEscape(a.client), url.QueryEscape(a.secret))
	return r.Header
}

// Verify makes a call with a token, which passes the guard.
func (s *Service) Verify(ctx context.Context) error {
	return s.send(ctx, http.MethodGet, "/invoices", "", bearer(s.token().access), http.StatusNoContent, nil)
}

// Introspect asks about a token, which is active.
func (s *Service) Introspect(ctx context.Context) error {
	t := s.token()
	var got struct{ Active bool }
	err := s.send(ctx, http.MethodPost, "/oauth/introspect", url.Values{"token": {t.access}}.Encode(), s.appOf(t).post(), http.StatusOK, &got)
	if err == nil && !got.Active {
		err = fmt.Errorf("the token of row %d is not active", t.row)
	}
	return err
}

// Refresh presents a refresh token, and keeps what it gets instead.
func (s *Service) Refresh(ctx context.Context) error {
	t := s.token()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.refresh}}
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := s.send(ctx, http.MethodPost, "/oauth/token", form.Encode(), s.appOf(t).post(), http.StatusOK, &got); err != nil {
		return err
	}
	if got.Access == "" || got.Refresh == "" || got.Refresh == t.refresh {
		return fmt.Errorf("no new tokens for row %d", t.row)
	}
	t.access, t.refresh = got.Access, got.Refresh
	return nil
}

// business returns one of those that have little.
func (s *Service) business() string { return fmt.Sprint("business_", 1+s.turn()%(s.businesses()-1)) }

// Record records an event.
func (s *Service) Record(ctx context.Context) error {
	_, err := s.record(ctx)
	return err
}

func (s *Service) record(ctx context.Context) ([]partner.Event, error) {
	return s.Platform.Events().Record(ctx, events.Draft{
		Type: types[0], BusinessID: s.business(), Data: map[string]any{"invoice": map[string]any{"id": "inv_1", "number": "2026-0001", "status": "SENT", "total": "119.00"}},
	})
}

// plannedTogether is how many businesses have unplanned events: enough for a database to
// choose another plan than for one.
const plannedTogether = 6

// Plan numbers recorded events of several businesses and queues their deliveries.
func (s *Service) Plan(ctx context.Context) error {
	for range plannedTogether {
		if err := s.Record(ctx); err != nil {
			return err
		}
	}
	epochs, err := s.hold(ctx)
	if err != nil {
		return err
	}
	backlogs, err := s.Store.Backlogs(ctx, nil)
	if err != nil {
		return err
	}
	found, err := s.Store.Unplanned(ctx, backlogs)
	if err != nil {
		return err
	}
	plan, now := webhookstore.Plan{Node: node, Shards: map[int]int64{}}, time.Now()
	for shard, epoch := range epochs {
		if shard.Kind == webhookstore.PlanShard {
			plan.Shards[shard.Number] = epoch
		}
	}
	for _, b := range found.Businesses {
		plan.Steps = append(plan.Steps, webhookstore.PlanStep{BusinessID: b.BusinessID, Numbered: b.Numbered, Events: b.Events})
		for _, e := range b.Events {
			for _, to := range b.Subscribers {
				plan.Deliveries = append(plan.Deliveries, partner.Delivery{
					ID: id.New(id.Delivery, now), WebhookID: to.WebhookID, AppID: to.AppID, EventID: e.ID, EventType: e.Type, BusinessID: e.BusinessID,
					Body: e.Data, Status: partner.DeliveryQueued, NextAttemptAt: now, CreatedAt: now,
				})
			}
		}
	}
	saved, err := s.Store.SavePlan(ctx, plan)
	if err == nil && (!saved || len(plan.Deliveries) == 0) {
		err = fmt.Errorf("%d deliveries planned for %d businesses, saved: %v", len(plan.Deliveries), len(plan.Steps), saved)
	}
	return err
}

const perPage = 50

// FirstPage reads the first events of the greatest business.
func (s *Service) FirstPage(ctx context.Context) error { return s.page(ctx, "") }

// DeepPage reads events in the middle of it.
func (s *Service) DeepPage(ctx context.Context) error {
	row := s.n/2 + 2*(s.turn()%(s.n/8))
	return s.page(ctx, "&after="+s.id(id.Event, row-row%2))
}

func (s *Service) page(ctx context.Context, after string) error {
	var got struct {
		Events  []struct{ ID string }
		HasMore bool
	}
	err := s.send(ctx, http.MethodGet, fmt.Sprintf("/events?limit=%d%s", perPage, after), "", bearer(s.tokens[0].access), http.StatusOK, &got)
	if err == nil && (len(got.Events) != perPage || !got.HasMore) {
		err = fmt.Errorf("a page of %d events", len(got.Events))
	}
	return err
}

// DeliveryList lists what was sent to the webhook that has most.
func (s *Service) DeliveryList(ctx context.Context) error {
	page, err := s.Platform.Webhooks().Deliveries(ctx, partner.DeliveryQuery{AppID: s.hooks[0].AppID, WebhookID: s.hooks[0].ID})
	if err == nil && len(page.Deliveries) != webhooks.MaxListed {
		err = fmt.Errorf("a list of %d deliveries", len(page.Deliveries))
	}
	return err
}

// Health reads the health of the webhooks of an app.
func (s *Service) Health(ctx context.Context) error {
	found, err := s.Platform.Webhooks().List(ctx, s.hooks[0].AppID)
	if err == nil && (len(found) == 0 || found[0].Health.Attempts == 0) {
		err = fmt.Errorf("%d webhooks without attempts", len(found))
	}
	if err != nil {
		return err
	}
	hours, err := s.Platform.Webhooks().AttemptHours(ctx, found[0].AppID, found[0].ID)
	if err == nil && len(hours) != 24 {
		err = fmt.Errorf("%d hours of attempts", len(hours))
	}
	return err
}

// FilteredDeliveries lists the deliveries of that webhook by each filter alone, within a time
// and with counts.
func (s *Service) FilteredDeliveries(ctx context.Context) error {
	row := 4*(s.turn()%(s.n/4)) + 2 // of the webhook, delivered
	for _, q := range []partner.DeliveryQuery{
		{Statuses: []partner.DeliveryStatus{partner.DeliveryQueued}, CountUpTo: webhooks.MaxCounted},
		{Statuses: []partner.DeliveryStatus{partner.DeliveryRetrying}},
		{Statuses: []partner.DeliveryStatus{partner.DeliveryDelivered}},
		{Statuses: []partner.DeliveryStatus{partner.DeliveryFailed}},
		{EventType: types[0], CountUpTo: webhooks.MaxCounted},
		{BusinessID: "business_0", CountUpTo: webhooks.MaxCounted},
		{BusinessID: "business_absent"},
		{EventType: types[1]},
		{EventID: s.id(id.Event, row)},
	} {
		q.AppID, q.WebhookID, q.Limit = s.hooks[0].AppID, s.hooks[0].ID, webhooks.MaxListed
		for range 2 {
			page, err := s.Platform.Webhooks().Deliveries(ctx, q)
			if err != nil {
				return err
			}
			if n := len(page.Deliveries); q.EventID != "" && q.Since.IsZero() && n != 1 {
				return fmt.Errorf("%d deliveries of one event", n)
			}
			q.Since, q.Until = s.now.Add(-age), s.now.Add(-time.Hour)
		}
	}
	return nil
}

// Claimed is how many deliveries a claim is for.
const Claimed = 64

// Claim reads deliveries that are due, of the webhook that has most and of three others.
func (s *Service) Claim(ctx context.Context) error {
	_, err := s.claim(ctx)
	return err
}

func (s *Service) claim(ctx context.Context) ([]webhookstore.Due, error) {
	c := webhookstore.Claim{Now: time.Now(), IsTaken: func(string) bool { return false }}
	at := s.turn()
	for k := range 4 {
		hook := s.hooks[0]
		if k > 0 {
			hook = s.hooks[1+(at+k)%(len(s.hooks)-1)]
		}
		c.Webhooks = append(c.Webhooks, webhookstore.WebhookClaim{WebhookID: hook.ID, Limit: Claimed / 4})
	}
	due, err := s.Store.DueDeliveries(ctx, c)
	if err == nil && len(due) != Claimed {
		err = fmt.Errorf("a claim of %d deliveries", len(due))
	}
	return due, err
}

// AppData reads the values of a few records of the greatest business.
func (s *Service) AppData(ctx context.Context) error {
	at := s.turn()
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = fmt.Sprint("invoice_", (at+i*104_729)%(s.n/4))
	}
	var got struct{ Data []struct{ ID string } }
	err := s.send(ctx, http.MethodGet, "/app-data?resourceIds="+strings.Join(ids, ","), "", bearer(s.tokens[0].access), http.StatusOK, &got)
	if err == nil && len(got.Data) != 2*len(ids) {
		err = fmt.Errorf("%d values of %d records", len(got.Data), len(ids))
	}
	return err
}

// PurgeNothing purges as of the time when the oldest row was created, when no row is old
// enough.
func (s *Service) PurgeNothing(ctx context.Context) error {
	n, err := s.purge(ctx, s.now.Add(-age), 1)
	if err == nil && n != 0 {
		err = fmt.Errorf("%d rows purged", n)
	}
	return err
}

// Kinds is of how many kinds Purge deletes rows. Attempts go with their deliveries.
const Kinds = 20

// Purge deletes the given number of the oldest rows of each kind, as of a time when they
// are old enough. Families that were refreshed in between stay.
func (s *Service) Purge(ctx context.Context, each int) error {
	n, err := s.purge(ctx, s.now.Add(1000*24*time.Hour), each)
	if err == nil && (n <= (Kinds-1)*each || n > Kinds*each) {
		err = fmt.Errorf("%d rows purged", n)
	}
	return err
}

// purge does the work of the janitors, with the same ages.
func (s *Service) purge(ctx context.Context, now time.Time, limit int) (int, error) {
	const kept = 30 * 24 * time.Hour
	total := 0
	for kind, before := range map[storage.PurgeKind]time.Time{
		storage.PurgeOAuth: now, storage.PurgeEvents: now.Add(-kept), storage.PurgeDeliveries: now.Add(-kept), storage.PurgeHealth: now.Add(-kept), storage.PurgeAppData: now,
		storage.PurgeKeys: now, storage.PurgeCalls: now.Add(-kept), storage.PurgeCallGroups: now.Add(-kept), storage.PurgeUsage: now.Add(-kept), storage.PurgeLimitWindows: now, storage.PurgeRequests: now.Add(-kept), storage.PurgeAudit: now.Add(-audit.Retention),
	} {
		n, err := s.Store.Purge(ctx, storage.Purge{Kind: kind, Before: before, Real: now, Limit: limit})
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
