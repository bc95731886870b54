package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const (
	// verifyWithin is how long a delivery waits for its webhook to be verified, from when it was
	// due. Then it fails.
	verifyWithin = 24 * time.Hour
	// maxChallenges is how many challenges a webhook gets within challengeWindow.
	maxChallenges   = 10
	challengeWindow = time.Hour
	// challengeType is the type of a challenge's body.
	challengeType = "webhook.verification"
	// challengesAtOnce is how many challenges a node sends at the same time.
	challengesAtOnce = 16
	challengeEvery   = time.Second
)

// Challenge asks for a challenge to a webhook's endpoint: a node on which [Service.Run] runs
// sends a signed request of the type webhook.verification whose data has a member challenge, and
// the webhook is verified when the response, within [AttemptTimeout], is a 2xx with a JSON object
// whose member challenge is the same. Creating a webhook and saving one that is not verified do
// the same.
//
// [partner.ErrNotFound], or an error of apierror: without Options.VerifyEndpoints there is no such thing,
// the app is not usable, or the webhook had ten challenges in an hour.
func (s *Service) Challenge(ctx context.Context, appID, webhookID string) error {
	if !s.cfg.VerifyEndpoints {
		return apierror.NotFound("")
	}
	wait, err := s.cfg.Store.RequestChallenge(ctx, webhookstore.ChallengeRequest{
		AppID: appID, WebhookID: webhookID, Now: s.now(), Limit: maxChallenges, Window: challengeWindow,
		Check: func(standing webhookstore.Standing) error {
			if !standing.IsAppUsable {
				return codes.AppNotActive.New()
			}
			return nil
		},
	})
	if err == nil && wait > 0 {
		return apierror.TooManyRequests(wait)
	}
	return err
}

// challenge asks for the challenge of a webhook that was saved. A webhook that had its challenges
// is saved all the same, and the developer can ask for another one later. So is one of a
// suspended app, which gets its challenge when the app is active again.
func (s *Service) challenge(ctx context.Context, w partner.Webhook, now time.Time) (wait time.Duration, err error) {
	return s.cfg.Store.RequestChallenge(ctx, webhookstore.ChallengeRequest{
		AppID: w.AppID, WebhookID: w.ID, Now: now, Limit: maxChallenges, Window: challengeWindow,
		Check: func(webhookstore.Standing) error { return nil },
	})
}

// later returns a time after another one, so that the two can be told apart where they are
// stored.
func later(now, than time.Time) time.Time {
	if now.After(than) {
		return now
	}
	return than.Add(time.Millisecond)
}

func (s *Service) isUnverified(now webhookstore.Standing) bool {
	return s.cfg.VerifyEndpoints && now.IsUnverified
}

// mustWait reports whether a delivery stays queued until its webhook is verified.
func (s *Service) mustWait(d webhookstore.Due, now time.Time) bool {
	return s.gate(d.Delivery, d.Standing) == gateUnverified && now.Before(d.DueAt.Add(verifyWithin))
}

// waitingRoom remembers when the first delivery that waits for its webhook to be verified was due,
// by webhook. Waiting deliveries are not claimed: a dispatcher looks at them when a challenge was
// answered, and when the first one has waited for too long.
type waitingRoom map[string]time.Time

func (r waitingRoom) add(d webhookstore.Due) {
	if first, ok := r[d.WebhookID]; !ok || d.DueAt.Before(first) {
		r[d.WebhookID] = d.DueAt
	}
}

// expired removes and returns the webhooks with a delivery that has waited for too long.
func (r waitingRoom) expired(now time.Time) []webhookstore.DueWebhook {
	var all []webhookstore.DueWebhook
	for webhookID, first := range r {
		if !now.Before(first.Add(verifyWithin)) {
			all = append(all, webhookstore.DueWebhook{WebhookID: webhookID, First: first})
			delete(r, webhookID)
		}
	}
	return all
}

// runChallenges sends challenges until ctx ends, and waits for those under way.
func (s *Service) runChallenges(ctx context.Context) {
	hints := s.watch(webhookstore.TopicChallenges)
	defer hints.Stop()
	tick := time.NewTicker(challengeEvery)
	defer tick.Stop()
	work, cancel := workContext(ctx)
	defer cancel()
	var sending sync.WaitGroup
	defer sending.Wait()
	slots := make(chan struct{}, challengesAtOnce)
	for {
		if free := cap(slots) - len(slots); free > 0 {
			targets, err := s.store.TakeChallenges(ctx, free)
			if err != nil && ctx.Err() == nil {
				s.cfg.Logger.ErrorContext(ctx, "webhooks: reading challenges failed", "err", err)
			}
			for _, to := range targets {
				slots <- struct{}{}
				sending.Go(func() {
					defer func() { <-slots }()
					s.sendChallenge(work, to)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-hints.C:
		case <-tick.C:
		}
	}
}

// sendChallenge sends a challenge and records its result. After an error of the store it tries to
// record it again until ctx ends.
func (s *Service) sendChallenge(ctx context.Context, to webhookstore.Target) {
	failed := s.askEndpoint(ctx, to)
	for ctx.Err() == nil {
		err := s.store.EndChallenge(ctx, to.Webhook.ID, to.Webhook.UnverifiedSince, failed)
		if err == nil {
			return
		}
		s.cfg.Logger.ErrorContext(ctx, "webhooks: recording a challenge failed, trying again", "webhook", to.Webhook.ID, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(tryAgain):
		}
	}
}

// askEndpoint returns why an endpoint did not answer a challenge; empty: it did.
func (s *Service) askEndpoint(ctx context.Context, to webhookstore.Target) (failed string) {
	now := s.now()
	challenge := strings.ToLower(rand.Text() + rand.Text())[:32]
	version := to.PinnedVersion
	if version == "" {
		version = s.cfg.CurrentVersion
	}
	d := partner.Delivery{ID: id.New(id.Delivery, now), WebhookID: to.Webhook.ID, AppID: to.Webhook.AppID, EventType: challengeType, BusinessID: testBusiness, CreatedAt: now}
	var err error
	d.Body, err = body(d.ID, version, partner.Event{Type: d.EventType, BusinessID: d.BusinessID, CreatedAt: now}, json.RawMessage(`{"challenge":"`+challenge+`"}`))
	if err != nil {
		return outbound.PublicText(err)
	}
	req, err := s.request(ctx, d, target{to.Webhook.URL, to.Webhook.Secrets}, now)
	if err != nil {
		return outbound.PublicText(err)
	}
	res, err := s.http.Send(req)
	if err != nil {
		s.cfg.Logger.DebugContext(ctx, "webhooks: challenge failed", "webhook", to.Webhook.ID, "err", err)
		return outbound.PublicText(err)
	}
	if !res.IsSuccess() {
		return "answered with status " + strconv.Itoa(res.Status)
	}
	answer, err := res.Whole()
	if err != nil {
		return outbound.PublicText(err)
	}
	var got struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "the response is not a JSON object"
	}
	if got.Challenge != challenge {
		return "the response does not have the challenge that was sent"
	}
	return ""
}
