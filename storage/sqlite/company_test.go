package sqlite

import (
	"testing"
	"time"
)

// A batch that is smaller than the last one waits for those who come back, for a part of
// the time that the last commit took, and for nobody otherwise.
func TestCompany(t *testing.T) {
	one, other, later := &job{}, &job{}, time.Now().Add(time.Hour)
	w := &writer{maxBatch: 10, last: 2, patience: later}
	came := make(chan struct{})
	go func() {
		defer close(came)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.queue = append(w.queue, other)
	}()
	if got := w.company([]*job{one}, true); len(got) != 2 || got[1] != other {
		t.Errorf("a batch of %d, who came back is not in it", len(got))
	}
	<-came
	if got := w.company([]*job{one, other}, true); len(got) != 2 {
		t.Errorf("a batch of %d", len(got))
	}
	for _, test := range []struct {
		w          *writer
		willCommit bool
	}{
		{&writer{maxBatch: 10, last: 1, patience: later}, true},                       // the last one was alone, too
		{&writer{maxBatch: 10, last: 2}, true},                                        // its commit took no time
		{&writer{maxBatch: 10, last: 2, took: time.Hour, patience: time.Now()}, true}, // it has waited
		{&writer{maxBatch: 10, last: 2, patience: later}, false},                      // there is nothing to commit
	} {
		if got := test.w.company([]*job{one}, test.willCommit); len(got) != 1 {
			t.Errorf("a batch of %d", len(got))
		}
	}
}
