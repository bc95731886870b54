package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// DLV-11: the health of a webhook in the API is that of its attempts, those of tests among
// them. Switched off and on again it starts over, and can fail again.
func TestWebhookHealth_DLV11(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.run()
	endpoint := newReceiver(t, accept)
	path, hook, _ := d.newWebhook(endpoint.URL, "biz_1")
	step := func(name string, want map[string]any) {
		t.Helper()
		for from, got := range map[string]map[string]any{"the list": d.ann("GET " + path + "/webhooks").data()[0], "the webhook": d.ann("GET " + hook).body} {
			health := got["health"].(map[string]any)
			if (health["failingSince"] != nil) != (want["failing"] == true) {
				t.Errorf("%s, %s: failing since %v", name, from, health["failingSince"])
			}
			delete(health, "failingSince")
			if diff := cmp.Diff(want, health); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", name, from, diff)
			}
		}
	}
	try := func(response http.HandlerFunc) {
		t.Helper()
		endpoint.responses(response)
		d.ann("POST " + hook + "/test").want(http.StatusAccepted)
		d.settle()
		d.must(d.clock.Advance(time.Second))
	}
	step("no attempts", map[string]any{"failing": false, "degraded": false})
	try(accept)
	step("a success", map[string]any{"failing": false, "degraded": false, "failureRate": 0.0})
	try(refuse)
	step("one of two failed", map[string]any{"failing": false, "degraded": true, "failureRate": 0.5})
	d.must(d.clock.Advance(2 * time.Hour)) // the retry fails
	d.settle()
	step("none succeeded for an hour", map[string]any{"failing": true, "degraded": false, "failureRate": 2.0 / 3})
	try(accept)
	step("it works again", map[string]any{"failing": false, "degraded": true, "failureRate": 2.0 / 4})
	try(refuse)
	d.must(d.clock.Advance(2 * time.Hour))
	d.settle() // both are retried
	step("it fails again", map[string]any{"failing": true, "degraded": false, "failureRate": 5.0 / 7})

	d.ann("PATCH "+hook, `{"enabled": false}`).want(http.StatusOK)
	d.must(d.clock.Advance(8 * time.Hour))
	d.settle() // what waited is dropped, which is no attempt
	d.ann("PATCH "+hook, `{"enabled": true}`).want(http.StatusOK)
	step("switched on again", map[string]any{"failing": false, "degraded": false})
	try(refuse)
	step("the first attempt since then fails", map[string]any{"failing": true, "degraded": false, "failureRate": 1.0})
	d.must(d.clock.Advance(20 * time.Hour))
	d.settle()
	d.must(d.clock.Advance(24 * time.Hour))
	d.settle() // the third of six attempts
	step("two days later", map[string]any{"failing": true, "degraded": false, "failureRate": 1.0})
	for range 3 {
		d.must(d.clock.Advance(6 * time.Hour))
		d.settle()
	}
	d.must(d.clock.Advance(24 * time.Hour))
	step("a day without attempts", map[string]any{"failing": true, "degraded": false})
}
