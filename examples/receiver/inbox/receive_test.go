package inbox_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// CLI-02: the raw bytes are verified before they are parsed.
func TestVerifiesRawBytes(t *testing.T) {
	t.Parallel()
	w := &worker{}
	k := open(t, newPath(t), w.work)
	good := delivery("1")
	for name, test := range map[string]struct {
		body, header string
		want         int
	}{
		"unsigned":            {good, "", http.StatusUnauthorized},
		"another body":        {strings.ReplaceAll(good, ", ", ","), sign(t, good), http.StatusUnauthorized}, // the same JSON
		"another body's":      {good, sign(t, "x"), http.StatusUnauthorized},
		"signed, but no JSON": {"{", sign(t, "{"), http.StatusBadRequest},
		"signed, but nothing": {"{}", sign(t, "{}"), http.StatusBadRequest},
	} {
		if got := k.post(t, test.body, test.header); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if n, err := k.Pending(t.Context()); n != 0 || err != nil {
		t.Errorf("%d kept, %v", n, err)
	}
}

// CLI-02: 2xx first. The work on an event has not ended when it and others are
// answered.
func TestResponsesBeforeWorking(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}, 10), make(chan struct{})
	k := open(t, newPath(t), func(context.Context, inbox.Event) error {
		began <- struct{}{}
		<-release
		return nil
	})
	k.run(t)
	k.send(t, delivery("1"), http.StatusNoContent)
	<-began
	k.send(t, delivery("2"), http.StatusNoContent)
	k.send(t, delivery("3"), http.StatusNoContent)
	if n, err := k.Pending(t.Context()); n != 3 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
	close(release)
	k.drain(t)
}

// CLI-02: an event is worked on once, however often it comes, by whichever delivery,
// also after a restart. A test is known by its delivery.
func TestDeduplicates(t *testing.T) {
	t.Parallel()
	w := &worker{}
	path := newPath(t)
	test := `{"id": "dlv_t", "eventId": null, "type": "invoice.created", "businessId": "test", "created": 1, "data": {"test": true}}`
	for range 2 {
		k := open(t, path, w.work)
		stop := k.run(t)
		for range 3 {
			k.send(t, delivery("1"), http.StatusNoContent)
			k.send(t, strings.Replace(delivery("1"), "dlv_1", "dlv_2", 1), http.StatusNoContent)
			k.send(t, test, http.StatusNoContent)
			k.drain(t)
		}
		stop()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.worked(); got != "evt_1 dlv_t" {
		t.Errorf("worked on %s", got)
	}
}

// CLI-02: the queue is bounded. What is new is refused until there is room; what is
// known needs none.
func TestFull(t *testing.T) {
	t.Parallel()
	w := &worker{}
	k := open(t, newPath(t), w.work)
	for i := range 100 {
		k.send(t, delivery(fmt.Sprint(i)), http.StatusNoContent)
	}
	k.send(t, delivery("more"), http.StatusServiceUnavailable)
	k.send(t, delivery("7"), http.StatusNoContent)
	k.run(t)
	k.drain(t)
	k.send(t, delivery("more"), http.StatusNoContent)
}

// CLI-02: a delivery that got a 2xx response is in the file, even if the process crashes
// afterwards: a copy of the file at that moment has it.
func TestKeptBeforeResponding(t *testing.T) {
	t.Parallel()
	k := open(t, newPath(t), (&worker{}).work)
	k.send(t, delivery("1"), http.StatusNoContent)
	crashed := newPath(t)
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(k.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &worker{}
	again := open(t, crashed, w.work)
	again.run(t)
	again.drain(t)
	if w.worked() != "evt_1" {
		t.Errorf("worked on %q", w.worked())
	}
}

// A file that cannot be written is a 5xx: the sender comes back.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	k := open(t, newPath(t), (&worker{}).work)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k.send(t, delivery("1"), http.StatusInternalServerError)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	work := (&worker{}).work
	for name, cfg := range map[string]inbox.Config{
		"no path":         {Work: work},
		"no work":         {Path: newPath(t)},
		"too small":       {Path: newPath(t), Work: work, Limit: 99},
		"negative":        {Path: newPath(t), Work: work, Limit: -1},
		"no such folder":  {Path: newPath(t) + "/x/y.db", Work: work},
		"not a database ": {Path: "harness_test.go", Work: work},
	} {
		if box, err := inbox.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: it opens", name)
			_ = box.Close()
		}
	}
}
