package analytics_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// failedCall is a call that the request log keeps the error of.
func (r *harness) failedCall() analytics.Call {
	return analytics.Call{
		AppID: "app_1", BusinessID: "biz_1", InstallationID: "inst_1", At: r.clock.Now(), Method: http.MethodGet, Route: "GET /invoices/{id}",
		Status: http.StatusNotFound, RequestID: "req_1", Error: []byte(`{"code":"NOT_FOUND"}`),
	}
}

// CON-10: nothing of the log is lost at shutdown.
func TestCON10LogIsWrittenAtShutdown(t *testing.T) {
	t.Parallel()
	const calls = 450 // more than two batches
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, stop func() error) {
		for i := range calls {
			call := r.failedCall()
			call.RequestID = fmt.Sprintf("req_%d", i)
			r.Count(call)
		}
		_ = stop() // the context's error
		stored, err := r.env.Requests(t.Context(), callstore.RequestQuery{AppID: "app_1", Limit: calls + 1})
		if err != nil {
			t.Fatal(err)
		}
		ids := make(map[string]bool)
		for _, one := range stored {
			ids[one.RequestID] = true
		}
		if len(stored) != calls || len(ids) != calls {
			t.Errorf("%d entries of %d calls are stored, want %d", len(stored), len(ids), calls)
		}
	})
}

// CON-10: the log is written off the request path: a call costs no statement and at most
// ten allocations more.
func TestCON10CostOfACall(t *testing.T) {
	r := newHarness(t, analytics.Config{})
	call := r.failedCall()
	r.Count(call) // opens the bucket and the groups
	r.env.Tap.Reset()
	if got := testing.AllocsPerRun(500, func() { r.Count(call) }); got > 10 {
		t.Errorf("%v allocations, want at most 10", got)
	}
	if statements, commits := r.env.Tap.Counts(); statements != 0 || commits != 0 {
		t.Errorf("%d statements and %d commits, want none", statements, commits)
	}
}
