package webhooks

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

var schedulerStart = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func allMine(int) bool { return true }

// dueOf is a delivery of a webhook.
func dueOf(webhook, business string, n int) webhookstore.Due {
	return webhookstore.Due{Delivery: partner.Delivery{ID: fmt.Sprintf("dlv_%s_%04d", webhook, n), WebhookID: webhook, BusinessID: business}, DueAt: schedulerStart}
}

// dueNow is a webhook that has work.
func dueNow(webhook string) webhookstore.DueWebhook {
	return webhookstore.DueWebhook{WebhookID: webhook, First: schedulerStart, Last: schedulerStart}
}

// play gives every turn as many deliveries as it asked for, and starts them.
func play(s *scheduler, turns []turn, businessOf func(webhook string) string, n *int) (started []webhookstore.Due) {
	got := map[string]int{}
	for _, t := range turns {
		for range t.claim.Limit {
			*n++
			due := dueOf(t.claim.WebhookID, businessOf(t.claim.WebhookID), *n)
			s.claimed(due)
			s.start(due, schedulerStart)
			started = append(started, due)
			got[t.claim.WebhookID]++
		}
	}
	s.finishTurns(turns, got)
	return started
}

// An endpoint begins with one attempt at a time, gets twice as many after each success up
// to its limit, and one again after a failure.
func TestSchedulerLimits_DLV06(t *testing.T) {
	t.Parallel()
	s := newScheduler(64, 8)
	s.add(dueNow("whk"), 3, schedulerStart)
	n := 0
	own := func(string) string { return "biz" }
	var flights []webhookstore.Due
	for _, want := range []int{1, 2, 8, 8} { // two successes double it twice
		turns := s.choose(allMine)
		if len(turns) != 1 || turns[0].claim.Limit != want {
			t.Fatalf("%d turns, want one for %d deliveries: %+v", len(turns), want, turns)
		}
		flights = play(s, turns, own, &n)
		s.complete(flights[0].ID, true)
		for _, due := range flights[1:] {
			s.complete(due.ID, true)
		}
	}
	flights = play(s, s.choose(allMine), own, &n)
	for i, due := range flights {
		s.complete(due.ID, i < len(flights)-1)
	}
	if turns := s.choose(allMine); len(turns) != 1 || turns[0].claim.Limit != 1 {
		t.Errorf("after a failure: %+v", turns)
	}
}

// Endpoints that may be dead have at most half of the slots, and an attempt that takes long
// gives up its slot.
func TestSchedulerSuspects_DLV06(t *testing.T) {
	t.Parallel()
	s := newScheduler(8, 8)
	for i := range 20 {
		s.add(dueNow(fmt.Sprintf("whk_%02d", i)), 3, schedulerStart)
	}
	n := 0
	own := func(webhook string) string { return webhook }
	if flights := play(s, s.choose(allMine), own, &n); len(flights) != 4 || s.used != 4 {
		t.Fatalf("%d attempts of endpoints that may be dead in %d slots, want 4", len(flights), s.used)
	}
	if turns := s.choose(allMine); len(turns) != 0 {
		t.Fatalf("more of them: %+v", turns)
	}
	s.age(schedulerStart.Add(slowAfter))
	if s.used != 0 || s.slow != 4 {
		t.Errorf("%d slots used and %d slow attempts, want 0 and 4", s.used, s.slow)
	}
	if flights := play(s, s.choose(allMine), own, &n); len(flights) != 4 {
		t.Errorf("%d attempts in the slots of slow ones, want 4", len(flights))
	}
}

// A business with many deliveries is served after one with few.
func TestSchedulerShares_DLV06(t *testing.T) {
	t.Parallel()
	s := newScheduler(4, 1)
	for i := range 50 {
		s.add(dueNow(fmt.Sprintf("whk_%02d", i)), 3, schedulerStart)
	}
	n := 0
	businessOf := func(webhook string) string {
		if webhook == "whk_quiet" {
			return "biz_quiet"
		}
		return "biz_busy"
	}
	var flights []webhookstore.Due
	for range 60 { // all of the busy ones have had a turn
		flights = append(flights, play(s, s.choose(allMine), businessOf, &n)...)
		for _, due := range flights {
			s.complete(due.ID, true)
		}
		flights = nil
	}
	for range 5 {
		s.add(dueNow("whk_quiet"), 3, schedulerStart)
		turns := s.choose(allMine)
		if len(turns) == 0 || turns[0].claim.WebhookID != "whk_quiet" {
			t.Fatalf("the first turn is not of the quiet business: %+v", turns)
		}
		for _, due := range play(s, turns, businessOf, &n) {
			s.complete(due.ID, true)
		}
	}
}

// Only shards of the node get turns, and a lost shard has no work.
func TestSchedulerShards_DLV05(t *testing.T) {
	t.Parallel()
	s := newScheduler(8, 8)
	s.add(dueNow("whk_1"), 3, schedulerStart)
	if turns := s.choose(func(int) bool { return false }); len(turns) != 0 {
		t.Errorf("turns of foreign shards: %+v", turns)
	}
	s.add(dueNow("whk_1"), 3, schedulerStart)
	s.forget(3)
	if turns := s.choose(allMine); len(turns) != 0 || !s.oldest().IsZero() {
		t.Errorf("turns of a lost shard: %+v", turns)
	}
}

// Outcomes are recorded one batch at a time, again after an error, and none is lost.
func TestRecorder_DLV05(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	at := schedulerStart
	for i := range recordBatch + 10 {
		r.add(webhookstore.Outcome{Attempts: i})
	}
	if !r.isFull() {
		t.Error("not full")
	}
	first := r.begin(at, true)
	if len(first) != recordBatch || r.begin(at, true) != nil || len(r.unrecorded()) != recordBatch+10 {
		t.Fatalf("a batch of %d, %d not recorded", len(first), len(r.unrecorded()))
	}
	r.end(errors.New("no database"), at)
	if r.begin(at, true) != nil {
		t.Error("tried again at once")
	}
	at = at.Add(tryAgain)
	var got []int
	for range 2 {
		for _, o := range r.begin(at, false) {
			got = append(got, o.Attempts)
		}
		r.end(nil, at)
		at = at.Add(recordGather)
	}
	if len(got) != recordBatch+10 || !r.isEmpty() || len(r.unrecorded()) != 0 {
		t.Fatalf("%d outcomes recorded, %d left", len(got), len(r.unrecorded()))
	}
	for i, n := range got {
		if n != i {
			t.Fatalf("outcome %d comes at place %d", n, i)
		}
	}
}

// While attempts are in flight a step for few deliveries waits a little.
func TestPace(t *testing.T) {
	t.Parallel()
	p := pace{gather: time.Second}
	at := schedulerStart
	if !p.isTime(at, false, true) {
		t.Error("the first step waits")
	}
	if p.isTime(at, false, true) || !p.wakeAt.Equal(at.Add(time.Second)) {
		t.Errorf("a step for few does not wait, or until %v", p.wakeAt)
	}
	if !p.isTime(at, true, true) || !p.isTime(at, false, false) || !p.isTime(at.Add(time.Second), false, true) || !p.wakeAt.IsZero() {
		t.Error("a step waits that should not")
	}
}
