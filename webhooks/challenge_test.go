package webhooks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// inVerified runs a test on a harness that verifies endpoints.
func inVerified(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{VerifyEndpoints: true}})
		r.start()
		test(t, r)
	})
}

// answering answers challenges as text says, with the challenge for %s, and other deliveries with
// 204.
func answering(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Webhook-Event") != "webhook.verification" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// echo answers challenges.
func echo(n *pipeNet, address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		posts := n.posts(address)
		var body struct{ Data struct{ Challenge string } }
		if err := json.Unmarshal(posts[len(posts)-1].body, &body); err != nil {
			panic(err)
		}
		answering(http.StatusOK, fmt.Sprintf(`{"challenge": %q}`, body.Data.Challenge))(w, r)
	}
}

// isVerified waits for challenges under way, and reports whether the app's webhook is verified.
func (r *harness) isVerified(a app) bool {
	r.t.Helper()
	time.Sleep(webhooks.AttemptTimeout + 2*time.Second)
	hook, err := r.svc.Get(r.t.Context(), a.ID, a.webhook.ID)
	r.must(err)
	return hook.UnverifiedSince.IsZero()
}

// posted counts what arrived at the address, challenges and others.
func (r *harness) posted(address string) (challenges, deliveries int) {
	for _, p := range r.net.posts(address) {
		if p.header.Get("X-Webhook-Event") == "webhook.verification" {
			challenges++
		} else {
			deliveries++
		}
	}
	return challenges, deliveries
}

func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && e.Status() == status
}

// WH-04: the whole flow. Deliveries wait until the endpoint has answered, and what it answers is a
// signed delivery.
func TestChallenge_WH04(t *testing.T) {
	t.Parallel()
	inVerified(t, func(t *testing.T, r *harness) {
		r.net.handle(endpoint, answering(http.StatusOK, `{"challenge": "another"}`))
		a := r.app(endpoint, "invoice.created")
		r.record(a.business, "invoice.created")
		r.settle()
		if r.isVerified(a) {
			t.Error("a wrong answer verifies")
		}
		if challenges, deliveries := r.posted(endpoint); challenges != 1 || deliveries != 0 {
			t.Errorf("%d challenges and %d deliveries, want 1 and 0", challenges, deliveries)
		}
		if d, _ := r.only(a); d.Status != partner.DeliveryQueued || d.Attempts != 0 {
			t.Errorf("%+v", d)
		}
		_, err := r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		wantCode(t, err, codes.WebhookNotVerified.Code)

		p := r.net.posts(endpoint)[0]
		r.verify(p, a.secret)
		body := sent(t, p)
		data, _ := body["data"].(map[string]any)
		challenge, _ := data["challenge"].(string)
		if id, ok := body["eventId"]; !ok || id != nil || body["type"] != "webhook.verification" || body["businessId"] != "test" || len(challenge) != 32 || body["id"] != p.header.Get("X-Webhook-Id") || p.header.Get("X-Webhook-Event-Id") != "" {
			t.Errorf("challenge %s, header %v", p.body, p.header)
		}

		r.net.handle(endpoint, echo(r.net, endpoint))
		r.must(r.svc.Challenge(t.Context(), a.ID, a.webhook.ID))
		if !r.isVerified(a) {
			t.Error("the right answer does not verify")
		}
		r.settle()
		if d, _ := r.only(a); d.Status != partner.DeliveryDelivered || d.Attempts != 1 {
			t.Errorf("what waited: %+v", d)
		}
		hook, err := r.svc.Get(t.Context(), a.ID, a.webhook.ID)
		r.must(err)
		if hook.Health.Attempts != 1 || hook.Health.IsFailing() || hook.ChallengeError != "" {
			t.Errorf("challenges count in the health: %+v", hook)
		}
		r.must(r.svc.Challenge(t.Context(), a.ID, a.webhook.ID)) // a verified one stays so, whatever it answers
		r.net.handle(endpoint, answering(500, ""))
		if !r.isVerified(a) {
			t.Error("a verified webhook was challenged again, and is unverified")
		}
	})
}

// WH-04: nothing but a 2xx with the challenge, within ten seconds, is an answer.
func TestChallengeAnswers_WH04(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		failed  string
	}{
		"another status": {answering(404, ""), "answered with status 404"},
		"no JSON":        {answering(200, "ok"), "the response is not a JSON object"},
		"no object":      {answering(200, `["x"]`), "the response is not a JSON object"},
		"no challenge":   {answering(200, `{}`), "the response does not have the challenge that was sent"},
		"no body":        {answering(204, ""), "the response is not a JSON object"},
		"too late": {func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(11 * time.Second):
			case <-r.Context().Done():
			}
		}, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inVerified(t, func(t *testing.T, r *harness) {
				r.net.handle(endpoint, test.handler)
				a := r.app(endpoint, "invoice.created")
				if r.isVerified(a) {
					t.Error("it verifies")
				}
				hook, err := r.svc.Get(t.Context(), a.ID, a.webhook.ID)
				if err != nil || hook.ChallengeError != test.failed {
					t.Errorf("%v, %q, want %q", err, hook.ChallengeError, test.failed)
				}
			})
		})
	}
}

// WH-04: another URL is unverified again. A retrying delivery waits too, and what has waited for a
// day fails.
func TestUnverifiedAgain_WH04(t *testing.T) {
	t.Parallel()
	inVerified(t, func(t *testing.T, r *harness) {
		const moved = "127.0.0.6"
		r.net.handle(endpoint, echo(r.net, endpoint))
		a := r.app(endpoint, "invoice.created")
		if !r.isVerified(a) {
			t.Fatal("it is not verified")
		}
		r.net.handle(endpoint, response(500))
		r.record(a.business, "invoice.created")
		r.settle()
		same, url, enabled := "http://"+endpoint+"/hook", "http://"+moved+"/hook", true
		hook, err := r.svc.Update(t.Context(), a.ID, a.webhook.ID, webhooks.Change{URL: &same, Enabled: &enabled})
		if err != nil || !hook.UnverifiedSince.IsZero() {
			t.Errorf("%v: the same URL: %+v", err, hook)
		}
		r.net.handle(moved, answering(500, ""))
		if hook, err = r.svc.Update(t.Context(), a.ID, a.webhook.ID, webhooks.Change{URL: &url}); err != nil || hook.UnverifiedSince.IsZero() {
			t.Errorf("%v: another URL: %+v", err, hook)
		}
		r.advance(time.Hour)
		_, deliveries := r.posted(moved)
		if d, _ := r.only(a); d.Status != partner.DeliveryRetrying || d.Attempts != 1 || deliveries != 0 {
			t.Errorf("%d deliveries, %+v", deliveries, d)
		} else {
			_, err = r.svc.AttemptNow(t.Context(), a.ID, a.webhook.ID, d.ID)
			wantCode(t, err, codes.WebhookNotVerified.Code)
		}
		r.advance(webhooks.VerifyWithin - time.Hour)
		if d, _ := r.only(a); d.Status != partner.DeliveryRetrying {
			t.Errorf("after less than a day: %+v", d)
		}
		r.advance(2 * time.Minute)
		d, attempts := r.only(a)
		if d.Status != partner.DeliveryFailed || d.LastError != "the webhook is not verified" || len(attempts) != 1 {
			t.Errorf("after a day: %+v", d)
		}
		_, err = r.svc.Redeliver(t.Context(), a.ID, a.webhook.ID, d.ID)
		wantCode(t, err, codes.WebhookNotVerified.Code)
		_, err = r.svc.RedeliverSome(t.Context(), webhooks.FailedDeliveries{AppID: a.ID, WebhookID: a.webhook.ID, Since: r.clock.Now().Add(-48 * time.Hour)}, "")
		wantCode(t, err, codes.WebhookNotVerified.Code)
		r.net.handle(moved, echo(r.net, moved))
		r.must(r.svc.Challenge(t.Context(), a.ID, a.webhook.ID))
		if !r.isVerified(a) {
			t.Fatal("it is not verified")
		}
		_, err = r.svc.Redeliver(t.Context(), a.ID, a.webhook.ID, d.ID)
		r.must(err)
		r.settle()
		if d, _ = r.only(a); d.Status != partner.DeliveryDelivered {
			t.Errorf("sent again: %+v", d)
		}
	})
}

// WH-04: ten challenges an hour. A webhook that is saved once more is saved.
func TestChallengesAreLimited_WH04(t *testing.T) {
	t.Parallel()
	inVerified(t, func(t *testing.T, r *harness) {
		r.net.handle(endpoint, answering(500, ""))
		a := r.app(endpoint, "invoice.created")
		for range webhooks.MaxChallenges - 1 {
			time.Sleep(2 * time.Second) // until it was sent
			r.must(r.svc.Challenge(t.Context(), a.ID, a.webhook.ID))
		}
		time.Sleep(2 * time.Second)
		if err := r.svc.Challenge(t.Context(), a.ID, a.webhook.ID); !isStatus(err, http.StatusTooManyRequests) {
			t.Errorf("one too many: %v", err)
		}
		none := []string{}
		_, err := r.svc.Update(t.Context(), a.ID, a.webhook.ID, webhooks.Change{Events: &none})
		r.must(err)
		time.Sleep(2 * time.Second)
		if challenges, _ := r.posted(endpoint); challenges != webhooks.MaxChallenges {
			t.Errorf("%d challenges", challenges)
		}
		r.advance(time.Hour)
		r.must(r.svc.Challenge(t.Context(), a.ID, a.webhook.ID))
		time.Sleep(2 * time.Second)
		if challenges, _ := r.posted(endpoint); challenges != webhooks.MaxChallenges+1 {
			t.Errorf("%d challenges an hour later", challenges)
		}
	})
}

// WH-04: without the option nothing is challenged, and webhooks from before it are verified.
func TestChallengeIsAnOption_WH04(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		if err := r.svc.Challenge(t.Context(), a.ID, a.webhook.ID); !isStatus(err, http.StatusNotFound) {
			t.Errorf("error %v, want 404", err)
		}
		r.record(a.business, "invoice.created")
		r.settle()
		if !r.isVerified(a) {
			t.Error("it is unverified")
		}
		if challenges, deliveries := r.posted(endpoint); challenges != 0 || deliveries != 1 {
			t.Errorf("%d challenges, %d deliveries", challenges, deliveries)
		}
	})
	inVerified(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		given, _, err := r.svc.Create(t.Context(), webhooks.NewWebhook{AppID: a.ID, URL: "http://127.0.0.8/hook", Verified: true})
		if err != nil || !given.UnverifiedSince.IsZero() {
			t.Errorf("%v: that of a fixture: %+v", err, given)
		}
	})
}
