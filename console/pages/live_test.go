package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The script of a page asks for what changes on it alone, and gets nothing while that is as it
// was: time that passes is no change.
func TestLive(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, at := o.retried(newReceiver(t), map[string]any{"id": "inst_1"})
	for _, path := range []string{at, at[:strings.LastIndex(at, "/")], at[:strings.LastIndex(at, "/deliveries")], "/apps/" + app.ID + "/requests"} {
		asked := ask{method: http.MethodGet, path: path, by: ann, set: http.Header{"Partnerkit-Live": {"1"}}}
		first := o.send(asked).want(http.StatusOK)
		tag := first.Header.Get("ETag")
		if tag == "" || strings.Contains(first.Body, "<html") || !strings.Contains(first.Body, "data-live=") {
			t.Errorf("%s: %q %s", path, tag, first.Body)
		}
		if !strings.Contains(o.get(path).Body, first.Body) {
			t.Errorf("%s: the page has something else", path)
		}
		o.clock.Advance(time.Second)
		asked.set.Set("If-None-Match", tag)
		if again := o.send(asked).want(http.StatusNotModified); again.Body != "" {
			t.Errorf("%s: %s", path, again.Body)
		}
	}
	o.logCalls(app, 1)
	o.send(ask{method: http.MethodGet, path: "/apps/" + app.ID + "/requests", by: ann, set: http.Header{"Partnerkit-Live": {"1"}, "If-None-Match": {"old"}}}).want(http.StatusOK).shows("200 OK")
}
