package webhooks

import (
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
	"time"
)

const (
	// recordBatch is how many outcomes are recorded in one transaction.
	recordBatch = 500
	// While attempts are in flight, recording waits for recordEnough outcomes, but not
	// longer than recordGather: a transaction with many outcomes costs little more than one
	// with few.
	recordEnough = 400
	recordGather = 25 * time.Millisecond
)

// recorder collects outcomes and hands them out in batches, one at a time. It is not safe
// for concurrent use.
type recorder struct {
	outcomes  []webhookstore.Outcome // to be recorded
	recording []webhookstore.Outcome // the batch that is being recorded; nil: none is
	spare     []webhookstore.Outcome // memory of an earlier batch
	pace      pace
	retryAt   time.Time // after an error, in real time
}

func newRecorder() recorder { return recorder{pace: pace{gather: recordGather}} }

func (r *recorder) add(o webhookstore.Outcome) { r.outcomes = append(r.outcomes, o) }

// isFull reports whether outcomes come faster than they are recorded. Deliveries that are
// sent and not recorded are sent again after a crash, so that there must not be many.
func (r *recorder) isFull() bool { return len(r.outcomes) >= recordBatch }

func (r *recorder) isEmpty() bool { return r.recording == nil && len(r.outcomes) == 0 }

// unrecorded returns all outcomes that are not known to be recorded.
func (r *recorder) unrecorded() []webhookstore.Outcome {
	return append(append([]webhookstore.Outcome(nil), r.recording...), r.outcomes...)
}

// begin returns the next batch to record, or nil if it is not time for one.
func (r *recorder) begin(now time.Time, isBusy bool) []webhookstore.Outcome { //nolint:revive // a state, not a switch
	if r.recording != nil || len(r.outcomes) == 0 || now.Before(r.retryAt) || !r.pace.isTime(now, len(r.outcomes) >= recordEnough, isBusy) {
		return nil
	}
	n := min(len(r.outcomes), recordBatch)
	r.recording = r.outcomes[:n:n]
	r.outcomes = append(r.spare[:0], r.outcomes[n:]...)
	return r.recording
}

// end notes that the batch was recorded, or not. After an error the same outcomes are
// recorded again: those that were recorded all the same change nothing.
func (r *recorder) end(err error, now time.Time) {
	batch := r.recording
	r.recording = nil
	if err != nil {
		r.outcomes = append(batch, r.outcomes...)
		r.retryAt = now.Add(tryAgain)
		return
	}
	clear(batch)
	r.spare = batch
}

// pace spreads steps on the database: a step for many deliveries costs much less than
// many steps.
type pace struct {
	gather time.Duration // the pause between two steps that are not for enough deliveries
	last   time.Time     // when the last step began, in real time
	wakeAt time.Time     // when a step that was put off is due; zero: none was
}

// isTime reports whether to make a step now: it is for enough deliveries, nothing is under
// way that could bring more, or the last step was a while ago.
func (p *pace) isTime(now time.Time, isEnough, isBusy bool) bool { //nolint:revive // states, not switches
	if next := p.last.Add(p.gather); !isEnough && isBusy && now.Before(next) {
		p.wakeAt = next
		return false
	}
	p.last, p.wakeAt = now, time.Time{}
	return true
}
