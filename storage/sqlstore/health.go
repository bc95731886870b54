package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// The health of a webhook is kept in two places, both written in the transaction that
// records attempts:
//
//   - partnerkit_webhook_minute counts the attempts of each minute, by result and by latency,
//     and has the times of the newest ones. A batch adds one row for each webhook and minute.
//   - partnerkit_webhook has what a count of the last hours cannot tell: since when no
//     attempt has succeeded (failing_since), how many deliveries have failed for good since
//     then (failed_count), and when the webhook was found to be failing (warned_at). Few
//     batches change it.
//
// Both belong to a health_epoch, which grows when the webhook is switched on again. An
// attempt belongs to the epoch that it was claimed in, on whichever node, so that an older
// attempt changes nothing in the new epoch. Transactions that record attempts of one webhook
// come after each other, since they hold its shard.

// failingSince selects since when a webhook w is failing; NULL: it is not.
const failingSince = "CASE WHEN w.warned_at >= w.failing_since THEN w.failing_since END"

// attemptsOf are the attempts of one webhook in a batch. Times are Unix milliseconds.
type attemptsOf struct {
	webhookID   string
	epoch       int64
	appID       string
	first       int64 // when the first one started
	succeededAt int64 // when the newest successful one started; 0: there is none
	failures    []failedAttempt
	minutes     map[int64]*minute
	switchOff   string // why; empty: it stays as it is
}

type failedAttempt struct {
	at          int64
	isExhausted bool // the last one of its delivery
}

// minute counts the attempts that started in it. A time is 0 if there are none.
type minute struct {
	succeeded, failed     int
	succeededAt, failedAt int64
	latency               callstore.Latency
}

func (m *minute) add(at int64, succeeded bool, took time.Duration) { //nolint:revive // the outcome, not a switch
	m.latency.Count(took)
	if succeeded {
		m.succeeded++
		m.succeededAt = max(m.succeededAt, at)
		return
	}
	m.failed++
	m.failedAt = max(m.failedAt, at)
}

// attemptsByWebhook returns the attempts of a batch in the order of their webhooks.
func attemptsByWebhook(all []*webhookstore.Outcome) []*attemptsOf {
	type key struct {
		webhookID string
		epoch     int64
	}
	byKey := map[key]*attemptsOf{}
	for _, o := range all {
		if o.Attempt == nil {
			continue
		}
		k := key{o.Due.WebhookID, o.Due.HealthEpoch}
		one := byKey[k]
		if one == nil {
			one = &attemptsOf{webhookID: k.webhookID, epoch: k.epoch, appID: o.Due.AppID, first: ms(o.Attempt.StartedAt), minutes: map[int64]*minute{}}
			byKey[k] = one
		}
		one.add(ms(o.Attempt.StartedAt), o)
		one.switchOff = cmp.Or(one.switchOff, o.SwitchOff)
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b *attemptsOf) int {
		return cmp.Or(cmp.Compare(a.webhookID, b.webhookID), cmp.Compare(a.epoch, b.epoch))
	})
}

func (a *attemptsOf) add(at int64, o *webhookstore.Outcome) {
	succeeded := o.Status == partner.DeliveryDelivered
	begins := at - at%time.Minute.Milliseconds()
	if a.minutes[begins] == nil {
		a.minutes[begins] = new(minute)
	}
	a.minutes[begins].add(at, succeeded, o.Attempt.Duration)
	a.first = min(a.first, at)
	if succeeded {
		a.succeededAt = max(a.succeededAt, at)
	} else {
		a.failures = append(a.failures, failedAttempt{at, o.IsExhausted})
	}
}

// failuresAfter returns when the first failure after a time was, 0 if there is none, and how
// many deliveries have failed for good since.
func (a *attemptsOf) failuresAfter(after int64) (first int64, exhausted int) {
	for _, f := range a.failures {
		if f.at <= after {
			continue
		}
		if first == 0 || f.at < first {
			first = f.at
		}
		if f.isExhausted {
			exhausted++
		}
	}
	return first, exhausted
}

// healthState is what a batch has to know of a webhook.
type healthState string

const (
	isWorking healthState = "working" // the newest attempt succeeded, or there is none
	isUnsure  healthState = "unsure"  // it failed, less than an hour after one that succeeded
	isFailing healthState = "failing"
)

// countAttempts adds a batch to the minutes. It returns the state of each webhook before the
// batch; empty if the webhook was switched on since the attempts were claimed, or deleted.
func (t *tx) countAttempts(ctx context.Context, all []*attemptsOf) (map[*attemptsOf]healthState, error) {
	var rows [][]any
	byID := map[string]map[int64]*attemptsOf{}
	for _, one := range all {
		for _, at := range slices.Sorted(maps.Keys(one.minutes)) {
			m := one.minutes[at]
			row := []any{one.webhookID, one.epoch, at, m.succeeded, m.failed, m.succeededAt, m.failedAt}
			for _, n := range m.latency {
				row = append(row, n)
			}
			rows = append(rows, row)
		}
		if byID[one.webhookID] == nil {
			byID[one.webhookID] = map[int64]*attemptsOf{}
		}
		byID[one.webhookID][one.epoch] = one
	}
	before := make(map[*attemptsOf]healthState, len(all))
	const table = "partnerkit_webhook_minute"
	err := t.returnMany(ctx, "INSERT INTO "+table+" (webhook_id, epoch, minute_at, succeeded, failed, succeeded_at, failed_at, "+latencyColumns+") VALUES", rows,
		` ON CONFLICT (webhook_id, epoch, minute_at) DO UPDATE SET
			succeeded = `+table+`.succeeded + excluded.succeeded, failed = `+table+`.failed + excluded.failed,
			succeeded_at = CASE WHEN excluded.succeeded_at > `+table+`.succeeded_at THEN excluded.succeeded_at ELSE `+table+`.succeeded_at END,
			failed_at = CASE WHEN excluded.failed_at > `+table+`.failed_at THEN excluded.failed_at ELSE `+table+`.failed_at END,
			`+addedLatency(table)+`
		RETURNING webhook_id, epoch, COALESCE((SELECT CASE WHEN w.failing_since IS NULL THEN 'working' WHEN w.warned_at >= w.failing_since THEN 'failing' ELSE 'unsure' END
			FROM partnerkit_webhook w WHERE w.id = `+table+`.webhook_id AND w.health_epoch = `+table+`.epoch AND w.deleted_at IS NULL), '')`,
		func(scan func(...any) error) error {
			var webhookID string
			var epoch int64
			var is healthState
			err := scan(&webhookID, &epoch, (*string)(&is))
			before[byID[webhookID][epoch]] = is
			return err
		})
	return before, err
}

// recordHealth counts the attempts of a batch, notes which webhooks began to fail and which
// work again, and switches off those that have failed for too long.
func (t *tx) recordHealth(ctx context.Context, outcomes []*webhookstore.Outcome, f webhookstore.Finish, done *webhookstore.Finished) error {
	all := attemptsByWebhook(outcomes)
	if len(all) == 0 {
		return nil
	}
	before, err := t.countAttempts(ctx, all)
	if err != nil {
		return err
	}
	for _, one := range all {
		is := before[one]
		if is == "" {
			continue
		}
		_, exhausted := one.failuresAfter(0)
		hasSucceeded, hasFailed := one.succeededAt > 0, len(one.failures) > 0
		if hasSucceeded && is != isWorking || hasFailed && is != isFailing || exhausted > 0 {
			if err := t.changeHealth(ctx, one, f, done); err != nil {
				return err
			}
		}
		var err error
		switch {
		case one.switchOff != "":
			err = t.disable(ctx, one, f.Now, one.switchOff, done, "")
		case hasFailed && f.DisableAfter > 0:
			err = t.disable(ctx, one, f.Now, disabledReason(f.DisableAfter), done, " AND failed_count >= $5 AND failing_since <= $6", leastFailed, ms(f.Now.Add(-f.DisableAfter)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// health is the part of a webhook's row.
type health struct {
	since, warned int64 // 0: NULL
	failed        int   // deliveries, for good
}

func (h health) isFailing() bool { return h.since > 0 && h.warned >= h.since }

// after returns the health after some attempts. The newest attempts of all are those that
// succeeded and failed at these times, 0 for none within an hour.
func (h health) after(a *attemptsOf, succeededAt, failedAt int64, now time.Time) health {
	if failedAt <= succeededAt { // a tie has a success in the hour before it
		return health{}
	}
	first, exhausted := a.failuresAfter(succeededAt)
	next := health{since: first, failed: exhausted}
	switch {
	case h.since > succeededAt: // nothing has succeeded since
		next.failed += h.failed
		if first == 0 || h.since < first {
			next.since = h.since
		}
	case first == 0: // the failure was recorded before a success that started earlier
		next.since = failedAt
	}
	switch {
	case failedAt-succeededAt < partner.FailingAfter.Milliseconds():
	case h.isFailing():
		next.warned = max(h.warned, next.since)
	default:
		next.warned = max(ms(now), next.since)
	}
	return next
}

// changeHealth changes the health of a webhook after some attempts, which are counted.
func (t *tx) changeHealth(ctx context.Context, a *attemptsOf, f webhookstore.Finish, done *webhookstore.Finished) error {
	var since, warned sql.NullInt64
	var old health
	var succeededAt, failedAt int64
	const newest = "FROM partnerkit_webhook_minute m WHERE m.webhook_id = w.id AND m.epoch = w.health_epoch AND m.minute_at >= $3), 0)"
	err := t.one(ctx, "SELECT w.failing_since, w.warned_at, w.failed_count, COALESCE((SELECT MAX(m.succeeded_at) "+newest+", COALESCE((SELECT MAX(m.failed_at) "+newest+
		" FROM partnerkit_webhook w WHERE w.id = $1 AND w.health_epoch = $2 AND w.deleted_at IS NULL", []any{a.webhookID, a.epoch, a.first - (partner.FailingAfter + time.Minute).Milliseconds()},
		&since, &warned, &old.failed, &succeededAt, &failedAt)
	if errors.Is(err, storage.ErrNoRows) { // it was switched on just now
		return nil
	}
	if err != nil {
		return err
	}
	old.since, old.warned = since.Int64, warned.Int64
	next := old.after(a, succeededAt, failedAt, f.Now)
	if next == old {
		return nil
	}
	n, err := t.exec(ctx, "UPDATE partnerkit_webhook SET failing_since = $3, warned_at = $4, failed_count = $5 WHERE id = $1 AND health_epoch = $2",
		a.webhookID, a.epoch, nullMS(fromMS(next.since)), nullMS(fromMS(next.warned)), next.failed)
	if err != nil || n == 0 {
		return err
	}
	switch {
	case next.isFailing() && !old.isFailing():
		done.Failing = append(done.Failing, a.webhookID)
	case !next.isFailing() && old.isFailing():
		done.Recovered = append(done.Recovered, a.webhookID)
	}
	return nil
}

// leastFailed is how many deliveries must have failed for good before a webhook is switched
// off.
const leastFailed = 2

// disable switches off a webhook for a reason, under a further condition. The conditional
// update selects the one transaction that does so.
func (t *tx) disable(ctx context.Context, a *attemptsOf, now time.Time, reason string, done *webhookstore.Finished, condition string, args ...any) error {
	n, err := t.exec(ctx, `UPDATE partnerkit_webhook SET enabled = FALSE, disabled_at = $3, updated_at = $3, disabled_reason = $4, version = version + 1
		WHERE id = $1 AND health_epoch = $2 AND enabled = TRUE AND deleted_at IS NULL`+condition, append([]any{a.webhookID, a.epoch, ms(now), reason}, args...)...)
	if err != nil || n == 0 {
		return err
	}
	done.Disabled = append(done.Disabled, a.webhookID)
	return t.audit(ctx, audit.Entry{ID: id.New(id.Audit, now), AppID: a.appID, Action: audited.WebhookDisabled, Target: a.webhookID, At: now})
}

func disabledReason(after time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case after == day:
		return "no delivery has succeeded for 1 day"
	case after%day == 0:
		return fmt.Sprintf("no delivery has succeeded for %d days", after/day)
	}
	return fmt.Sprintf("no delivery has succeeded for %v", after)
}

// rateAttempts fills in what health says of the last hours.
func (s *Store) rateAttempts(ctx context.Context, all []partner.Webhook, now time.Time) error {
	hour, day := ms(now.Add(-partner.FailingAfter)), ms(now.Add(-webhookstore.RatedFor))
	for i := range all {
		h := &all[i].Health
		var succeeded int
		var succeededAt, failedAt int64
		err := s.read(ctx, `SELECT CAST(COALESCE(SUM(m.succeeded), 0) AS BIGINT), CAST(COALESCE(SUM(m.failed), 0) AS BIGINT), COALESCE(MAX(m.succeeded_at), 0), COALESCE(MAX(m.failed_at), 0)
			FROM partnerkit_webhook w JOIN partnerkit_webhook_minute m ON m.webhook_id = w.id AND m.epoch = w.health_epoch
			WHERE w.id = $1 AND m.minute_at > $2 AND (m.succeeded_at > $3 OR m.failed_at > $3)`,
			[]any{all[i].ID, day - time.Minute.Milliseconds(), day}, &succeeded, &h.Failures, &succeededAt, &failedAt)
		if err != nil {
			return err
		}
		h.Attempts = succeeded + h.Failures
		h.IsDegraded = succeededAt > hour && failedAt > hour
	}
	return nil
}

// AttemptHours implements webhookstore.Store.
func (s *Store) AttemptHours(ctx context.Context, webhookID string, since time.Time) ([]callstore.AttemptHour, error) {
	var all []callstore.AttemptHour
	err := storage.Each(ctx, s, s.sql.of(`SELECT minute_at / 3600000, CAST(SUM(succeeded) AS BIGINT), CAST(SUM(failed) AS BIGINT)`+latencySums+`
		FROM partnerkit_webhook_minute WHERE webhook_id = $1 AND minute_at >= $2 GROUP BY 1 ORDER BY 1`), []any{webhookID, ms(since)}, func(scan func(...any) error) error {
		var one callstore.AttemptHour
		var hour int64
		l := &one.Latency
		err := scan(&hour, &one.Succeeded, &one.Failed, &l[0], &l[1], &l[2], &l[3], &l[4], &l[5], &l[6], &l[7], &l[8], &l[9], &l[10], &l[11])
		one.Start = fromMS(hour * time.Hour.Milliseconds())
		all = append(all, one)
		return err
	})
	return all, wrap("attempt hours", err)
}

// purgeMinutes deletes storage.PurgeHealth.
func (s *Store) purgeMinutes(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM partnerkit_webhook_minute WHERE (webhook_id, epoch, minute_at) IN (
		SELECT webhook_id, epoch, minute_at FROM partnerkit_webhook_minute WHERE minute_at < $1 ORDER BY minute_at LIMIT $2)`, ms(before), limit)
	return int(n), wrap("purge health", err)
}
