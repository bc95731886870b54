package console_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console"
)

// slowChecker blocks each check until it is let go.
type slowChecker struct {
	begun chan string // the sources
	end   chan struct{}
}

func newSlowChecker() *slowChecker {
	return &slowChecker{begun: make(chan string, 100), end: make(chan struct{})}
}

func (s *slowChecker) CheckFunction(ctx context.Context, source string) error {
	s.begun <- source
	select {
	case <-s.end:
	case <-ctx.Done():
	}
	return &console.SourceError{Reason: "no"}
}

// CON-14: however many checks an organization asks for, another one's is next.
func TestChecksTakeTurns_CON14(t *testing.T) {
	t.Parallel()
	checker := newSlowChecker()
	d := newHarness(t, func(cfg *console.Config) { cfg.FunctionChecker = checker })
	ofAnn, _ := d.newApp(confidentialApp)
	ofEve := "/developer/apps/" + d.send(call{what: "POST /developer/apps", by: eve, body: confidentialApp}).want(http.StatusCreated).text("id")
	slots, waiting := runtime.GOMAXPROCS(0), 0
	var all sync.WaitGroup
	ask := func(by, path string) {
		all.Go(func() {
			d.send(call{what: "POST " + path + "/functions", by: by, body: function("f", by)}).wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_NO_HANDLER")
		})
	}
	for range slots {
		ask(ann, ofAnn)
	}
	for range slots {
		<-checker.begun
	}
	wait := func(by, path string) {
		ask(by, path)
		for waiting++; d.console.WaitingChecks() < waiting; {
			time.Sleep(time.Millisecond)
		}
	}
	for range 6 {
		wait(ann, ofAnn)
	}
	wait(eve, ofEve)
	var order []string
	for range waiting {
		checker.end <- struct{}{}
		order = append(order, <-checker.begun)
	}
	close(checker.end)
	all.Wait()
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "usr_ann usr_eve usr_ann") {
		t.Errorf("the checks began in the order %s", got)
	}
}

// CON-14: an organization has 20 checks a minute, and one that could not begin does not count.
func TestChecksOfAMinute_CON14(t *testing.T) {
	t.Parallel()
	checker := newSlowChecker()
	d := newHarness(t, func(cfg *console.Config) { cfg.FunctionChecker = checker })
	d.console.SetCheckPatience(10 * time.Millisecond)
	path, _ := d.newApp(confidentialApp)
	other, _ := d.newApp(confidentialApp)
	slots := runtime.GOMAXPROCS(0)
	var first sync.WaitGroup
	for range slots {
		first.Go(func() { d.ann("POST "+path+"/functions", function("f", "f")).want(http.StatusBadRequest) })
	}
	for range slots {
		<-checker.begun
	}
	for range 25 {
		got := d.ann("POST "+path+"/functions", function("f", "f")).want(http.StatusServiceUnavailable)
		if got.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	close(checker.end)
	first.Wait()
	for i := range 20 - slots {
		d.ann("POST "+[]string{path, other}[i%2]+"/functions", function("f", "f")).want(http.StatusBadRequest)
	}
	refused := d.ann("POST "+path+"/functions", function("f", "f")).want(http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	d.send(call{what: "POST /developer/apps", by: eve, body: confidentialApp})
	ofEve := "/developer/apps/" + fmt.Sprint(d.send(call{what: "GET /developer/apps", by: eve}).data()[0]["id"])
	d.send(call{what: "POST " + ofEve + "/functions", by: eve, body: function("f", "f")}).want(http.StatusBadRequest)
	d.clock.Advance(time.Minute)
	d.ann("POST "+path+"/functions", function("f", "f")).want(http.StatusBadRequest)
}

// CON-14: a check that is given up has a code of its own.
func TestTooComplex_CON14(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(cfg *console.Config) {
		cfg.FunctionChecker = console.FunctionCheckerFunc(func(context.Context, string) error { return &console.SourceError{Reason: "too much", TooComplex: true} })
	})
	path, _ := d.newApp(confidentialApp)
	d.ann("POST "+path+"/functions", function("f", "f")).wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_TOO_COMPLEX")
}
