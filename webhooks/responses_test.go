package webhooks_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-13: with the option 410 ends the delivery and the webhook, and Retry-After puts an attempt
// off, within bounds. Without it both are failures like others.
func TestHeedReceivers_DLV13(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, heed bool) (*harness, app) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{HeedReceivers: heed}})
		r.start()
		return r, r.app(endpoint, "invoice.created")
	}
	for _, heed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, a := begin(t, heed)
			r.net.handle(endpoint, response(410))
			r.record(a.business, "invoice.created")
			r.settle()
			d, _ := r.only(a)
			hook, err := r.svc.Get(t.Context(), a.ID, a.webhook.ID)
			r.must(err)
			isOff := !hook.Enabled && hook.Health.DisabledReason == "the endpoint answered with status 410" && !hook.Health.DisabledAt.IsZero()
			if heed != isOff || heed != (d.Status == partner.DeliveryFailed) || d.Attempts != 1 {
				t.Errorf("with %t: %+v, %+v", heed, d, hook)
			}
			entries, err := r.Audit(t.Context(), audit.Query{AppID: a.ID, Limit: 10})
			r.must(err)
			if has := slices.ContainsFunc(entries, func(e audit.Entry) bool { return e.Action == audited.WebhookDisabled }); has != heed {
				t.Errorf("with %t: audit %v", heed, entries)
			}
		})
	}
	for header, want := range map[string]time.Duration{
		"": time.Minute, "90": 90 * time.Second, "30": time.Minute, "86400": 2 * time.Minute, "-5": time.Minute, "soon": time.Minute,
		"99999999999999999999": time.Minute, "Sat, 01 Jan 2000 00:01:30 GMT": 90 * time.Second, "Fri, 31 Dec 1999 23:00:00 GMT": time.Minute,
	} {
		for _, status := range []int{429, 503, 500} {
			synctest.Test(t, func(t *testing.T) {
				r, a := begin(t, true)
				r.net.handle(endpoint, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", header)
					w.WriteHeader(status)
				})
				r.record(a.business, "invoice.created")
				r.settle()
				if status == 500 {
					want = time.Minute
				}
				d, attempts := r.only(a)
				if got := d.NextAttemptAt.Sub(attempts[0].StartedAt).Round(time.Second); d.Status != partner.DeliveryRetrying || got != want {
					t.Errorf("%d, Retry-After %q: %s in %v, want %v", status, header, d.Status, got, want)
				}
			})
		}
	}
}

// DLV-01, DLV-02: a 2xx whose headers are in within 10 seconds is a success, and
// nothing else is. DLV-09: what came back is kept.
func TestResponses(t *testing.T) {
	t.Parallel()
	hijack := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
	pause := func(d time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(d)
			w.WriteHeader(http.StatusOK)
		}
	}
	for name, test := range map[string]struct {
		handler   http.HandlerFunc
		code      int
		lastError string
	}{
		"200":                    {response(200), 200, ""},
		"201":                    {response(201), 201, ""},
		"299":                    {response(299), 299, ""},
		"300":                    {response(300), 300, "answered with status 300"},
		"301":                    {redirect(301), 301, "answered with status 301"},
		"307":                    {redirect(307), 307, "answered with status 307"},
		"304":                    {response(304), 304, "answered with status 304"},
		"400":                    {response(400), 400, "answered with status 400"},
		"410":                    {response(410), 410, "answered with status 410"},
		"503":                    {response(503), 503, "answered with status 503"},
		"just in time":           {pause(webhooks.AttemptTimeout - time.Millisecond), 200, ""},
		"too late":               {pause(webhooks.AttemptTimeout + time.Millisecond), 0, "timed out"},
		"never":                  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "timed out"},
		"cut":                    {hijack(""), 0, "invalid response"},
		"not HTTP":               {hijack("220 smtp.example ESMTP\r\n"), 0, "invalid response"},
		"switched protocols":     {hijack("HTTP/1.1 101 Switching Protocols\r\n\r\n"), 0, "invalid response"},
		"a 2xx with a cut body":  {hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), 200, ""},
		"a 2xx with no end":      {endless, 200, ""},
		"a 500 with a long body": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); endless(w, r) }, 500, "answered with status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *harness) {
				a := r.app(endpoint, "invoice.created")
				r.net.handle(endpoint, test.handler)
				r.record(a.business, "invoice.created")
				r.settle()
				time.Sleep(webhooks.AttemptTimeout + time.Second)
				d, attempts := r.only(a)
				status := partner.DeliveryRetrying
				if test.lastError == "" {
					status = partner.DeliveryDelivered
				}
				if d.Status != status || d.ResponseCode != test.code || d.LastError != test.lastError || d.Attempts != 1 || len(attempts) != 1 {
					t.Fatalf("%+v", d)
				}
				got := attempts[0]
				if got.ResponseCode != test.code || got.Error != test.lastError || got.Number != 1 || got.Duration > webhooks.AttemptTimeout || len(got.ResponseBody) > 1<<10 {
					t.Errorf("attempt %+v", got)
				}
				if strings.Contains(name, "no end") && !bytes.Equal(got.ResponseBody, bytes.Repeat([]byte{'x'}, 1<<10)) {
					t.Errorf("the first KiB of the answer is not kept: %q", got.ResponseBody)
				}
				if posts := r.net.posts("127.0.0.9"); len(posts) != 0 {
					t.Error("a redirect was followed")
				}
			})
		})
	}
}

func redirect(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://127.0.0.9/elsewhere")
		w.WriteHeader(status)
	}
}

// endless writes until the reader closes the connection.
func endless(w http.ResponseWriter, _ *http.Request) {
	for chunk := bytes.Repeat([]byte{'x'}, 4096); ; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
