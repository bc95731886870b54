package webhooks

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// maxResponse is how much of a response is kept, of its body and of its header.
const maxResponse = 1 << 10

// attempt sends a delivery once. Every result, including an error, is an outcome.
func (s *Service) attempt(ctx context.Context, due webhookstore.Due, epoch int64) webhookstore.Outcome {
	began, started := time.Now(), s.cfg.Clock.Now()
	a := &partner.Attempt{ID: id.New(id.Attempt, started), Round: due.Round, Number: due.Attempts + 1, StartedAt: started}
	retryAfter := ""
	if res, err := s.post(ctx, due, a); err != nil {
		a.Error = outbound.PublicText(err)
		s.cfg.Logger.DebugContext(ctx, "webhooks: attempt failed", "delivery", due.ID, "webhook", due.WebhookID, "err", err)
	} else {
		a.ResponseCode, a.ResponseBody, a.ResponseHeader = res.Status, res.Body[:min(len(res.Body), maxResponse)], keptHeader(res.Header)
		retryAfter = res.Header.Get("Retry-After")
		if !res.IsSuccess() {
			a.Error = "answered with status " + strconv.Itoa(res.Status)
		}
	}
	a.Duration = time.Since(began)
	o := webhookstore.Outcome{Due: due, Epoch: epoch, ResponseCode: a.ResponseCode, LastError: a.Error, Attempt: a}
	now := s.cfg.Clock.Now()
	after := next(due.Delivery, a.Error == "", now, s.cfg.RetryDelays)
	if s.cfg.HeedReceivers {
		after, o.SwitchOff = heed(after, a.ResponseCode, retryAfter, now)
	}
	o.Status, o.Attempts, o.NextAttemptAt, o.IsExhausted = after.Status, after.Attempts, after.NextAttemptAt, after.Status == partner.DeliveryFailed
	return o
}

func (s *Service) post(ctx context.Context, due webhookstore.Due, a *partner.Attempt) (*outbound.Response, error) {
	req, err := s.request(ctx, due.Delivery, target{due.URL, due.Secrets}, a.StartedAt)
	if err != nil {
		return nil, err
	}
	a.Signature = req.Header.Get(signature.Header)
	if s.cfg.Fault != nil {
		return s.cfg.Fault().send(req, s.http)
	}
	return s.http.Send(req)
}

// target is the URL and the secrets of a delivery.
type target struct {
	url     string
	secrets partner.Secrets
}

// request returns the request of an attempt at a time.
func (s *Service) request(ctx context.Context, d partner.Delivery, to target, at time.Time) (*http.Request, error) {
	signing, err := s.signers.of(d.WebhookID, to.secrets, at)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "webhooks: cannot sign; is a key missing from the keyring?", "webhook", d.WebhookID, "err", err)
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(d.Body))
	if err != nil {
		return nil, err
	}
	req.Header = RequestHeader(d, signing.signer.Sign(at, d.Body))
	if s.cfg.StandardHeaders {
		signature.SetStandard(req.Header, d.ID, at, d.Body, signing.keys...)
	}
	return req, nil
}

// SignedRequest returns the request that an attempt of a delivery would send now, to be shown
// to the developer, who can send it with a tool of their own; [partner.ErrNotFound]. Nothing is sent
// or recorded. With the request anyone can pass off its body as sent by the platform for
// as long as receivers accept the signature's time, so show it only to users who may rotate
// the webhook's secret. The request does not contain the secret.
func (s *Service) SignedRequest(ctx context.Context, appID, webhookID, deliveryID string) (*http.Request, error) {
	hook, err := s.Get(ctx, appID, webhookID)
	if err != nil {
		return nil, err
	}
	d, _, err := s.Delivery(ctx, appID, webhookID, deliveryID)
	if err != nil {
		return nil, err
	}
	return s.request(ctx, d, target{hook.URL, hook.Secrets}, s.now())
}

// keptHeader returns the beginning of a response's header, in the order of its names: lines are
// kept while they fit, as valid UTF-8.
func keptHeader(h http.Header) http.Header {
	kept, left := http.Header{}, maxResponse
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if left -= len(name) + len(value); left < 0 {
				return kept
			}
			kept[name] = append(kept[name], strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return kept
}

// RequestHeader returns the header of an attempt to send a delivery with that signature; HTTP
// adds its own.
func RequestHeader(d partner.Delivery, signed string) http.Header {
	h := http.Header{
		"Content-Type":    {"application/json"},
		"User-Agent":      {"partnerkit-webhooks"},
		"X-Webhook-Id":    {d.ID},
		"X-Webhook-Event": {d.EventType},
		signature.Header:  {signed},
	}
	if !d.IsTest() {
		h["X-Webhook-Event-Id"] = []string{d.EventID}
	}
	if d.Sequence > 0 {
		h["X-Webhook-Sequence"] = []string{strconv.FormatInt(d.Sequence, 10)}
	}
	return h
}
