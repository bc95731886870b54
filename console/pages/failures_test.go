package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-09, DLV-11: the page of a webhook says for which causes deliveries have not arrived and what
// to do about each, and has charts of the attempts of the last day.
func TestFailures_DLV09(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, r.URL)
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	o.get(own).lacks("What to look at", `<svg class="chart"`)
	try := func(status int) string {
		t.Helper()
		r.responseWith(status)
		o.clock.Advance(time.Second)
		d, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
		o.must(err)
		o.settle()
		return d.ID
	}
	try(http.StatusOK)
	try(http.StatusBadGateway)
	try(http.StatusUnauthorized)
	refused := try(http.StatusUnauthorized)
	page := o.get(own).want(http.StatusOK).shows(
		"401 Your server answered 401 Unauthorized 2 Check your signature verification",
		"502 Your server answered 502 Bad Gateway 1 Your server failed. Its log has the reason",
		"Tue 1 Sep, 12:00 UTC: 4 attempts, 1 succeeded, 3 failed", "Tue 1 Sep, 11:00 UTC: no attempts", "Tue 1 Sep, 12:00 UTC: p50 ", "Tue 1 Sep, 12:00 UTC 4 1 3",
	)
	page.links(own + "/deliveries/" + refused)
	if charts := page.charts(); len(charts) != 2 || len(charts[0].Bars) != 24 {
		t.Errorf("%d charts", len(charts))
	}
	o.get(own+"/deliveries/"+refused).shows("Last error Your server answered 401 Unauthorized", "Check your signature verification",
		"Up to 4 more if that one fails: 5 minutes, 30 minutes, 2 hours, 6 hours after the one before", "Attempt 2 in 00:01:00", "401 Attempt 1", "Created")
}

// Each way to fail has advice of its own, and none comes without any.
func TestAdviceOnFailures(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	for _, test := range []struct {
		code          any
		problem, want string
	}{
		{404, "answered with status 404", "Nothing serves the path of the URL"},
		{410, "answered with status 410", "gone for good"},
		{405, "answered with status 405", "Accept POST"},
		{422, "answered with status 422", "rejects the body"},
		{413, "answered with status 413", "size of a body"},
		{429, "answered with status 429", "has too much to do"},
		{301, "answered with status 301", "Redirects are not followed"},
		{599, "answered with status 599", "Your server failed"},
		{418, "answered with status 418", "Respond with a 2xx status"},
		{nil, "timed out", "Respond within 10 seconds"},
		{nil, "TLS handshake failed", "Check the certificate"},
		{nil, "invalid response", "no HTTP response"},
		{nil, "connection failed", "can be reached from the Internet"},
	} {
		_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_delivery SET attempts = 1, response_code = $2, last_error = $3 WHERE id = $1", m.invoices[0], test.code, test.problem)
		o.must(err)
		o.get(m.own + "/deliveries/" + m.invoices[0]).shows(test.want)
		o.get(m.own).shows("What to look at", test.want)
	}
}

// RDL-01, RDL-02: failed deliveries are sent again from their rows, alone and those that were
// chosen. Nothing else has a button, and what is sent by hand is refused.
func TestResend_RDL02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	page := o.get(m.own+"/deliveries").shows("Send chosen ones again", "Resend invoice.paid "+m.invoices[0])
	if boxes := strings.Count(page.Body, `name="delivery"`); boxes != 4 || strings.Count(page.Body, `name="only"`) != 4 {
		t.Errorf("%d deliveries can be chosen, want the 4 failed ones", boxes)
	}
	if values := page.values("value"); slices.Contains(values, m.tests[0]) {
		t.Error("a queued one can be chosen")
	}
	o.get(m.own).shows("Resend invoice.paid").lacks(`name="delivery"`)

	at := m.own + "/resend"
	o.post(at).want(http.StatusBadRequest).alerts("Choose the failed deliveries to send again.")
	o.post(at, "only", m.tests[0]).want(http.StatusBadRequest).alerts("only a failed delivery can be sent again; this one is queued")
	o.post(at, "only", m.invoices[0]).want(http.StatusBadRequest).alerts("the app is not installed in the business of this event")
	o.post(at, "only", "dlv_none").want(http.StatusNotFound)
	o.did(m.app, "app.created")

	// Tests need no installation.
	for _, one := range []string{m.invoices[0], m.customers[0], m.customers[1]} {
		_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_delivery SET event_id = NULL WHERE id = $1", one)
		o.must(err)
	}
	o.post(at+"?status=failed", "only", m.invoices[0]).wantTo(m.own+"/deliveries?queued=1&skipped=0&status=failed").shows("1 delivery is queued again.", "Queued 2", "Failed 3")
	o.post(at, "delivery", m.customers[0], "delivery", m.customers[1], "delivery", m.invoices[1], "delivery", "dlv_none").
		wantTo(m.own + "/deliveries?queued=2&skipped=2").shows("2 deliveries are queued again. 2 deliveries were skipped:")
	o.did(m.app, "delivery.redelivered", "delivery.redelivered", "delivery.redelivered", "app.created")
	many := url.Values{"delivery": slices.Repeat([]string{m.invoices[1]}, 26)}
	o.send(ask{method: http.MethodPost, path: at, form: many, by: ann}).want(http.StatusBadRequest).alerts("Choose at most 25 deliveries.")
	o.send(ask{method: http.MethodPost, path: at, form: many, by: eve}).want(http.StatusNotFound)

	off := false
	_, err := o.Hooks.Update(t.Context(), m.app.ID, strings.Split(m.own, "/")[4], webhooks.Change{Enabled: &off})
	o.must(err)
	for _, path := range []string{m.own, m.own + "/deliveries"} {
		o.get(path).shows("Nothing can be sent while the webhook is off.").lacks(`name="only"`)
	}
	o.must(o.oauth.SetAppStatus(t.Context(), m.app.ID, partner.AppSuspended))
	o.post(at, "only", m.invoices[1]).want(http.StatusBadRequest).alerts("the app is suspended or deactivated")
}
