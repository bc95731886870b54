package webhooks

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// maxAnswer is how much of an answer is kept.
const maxAnswer = 1 << 10

// attempt sends a delivery once. Whatever happens is an outcome.
func (s *Service) attempt(ctx context.Context, due Due, epoch int64) Outcome {
	began, started := time.Now(), s.cfg.Clock.Now()
	a := &Attempt{ID: id.New(id.Attempt, started), Number: due.Attempts + 1, StartedAt: started}
	if res, err := s.post(ctx, due, a); err != nil {
		a.Error = outbound.PublicText(err)
		s.cfg.Logger.DebugContext(ctx, "webhooks: attempt failed", "delivery", due.ID, "webhook", due.WebhookID, "err", err)
	} else {
		a.ResponseCode, a.Answer = res.Status, res.Body[:min(len(res.Body), maxAnswer)]
		if !res.IsSuccess() {
			a.Error = "answered with status " + strconv.Itoa(res.Status)
		}
	}
	a.Duration = time.Since(began)
	after := due.next(a.Error == "", s.cfg.Clock.Now())
	return Outcome{
		Due: due, Epoch: epoch, Status: after.Status, Attempts: after.Attempts, NextAttemptAt: after.NextAttemptAt,
		ResponseCode: a.ResponseCode, LastError: a.Error, Attempt: a,
	}
}

func (s *Service) post(ctx context.Context, due Due, a *Attempt) (*outbound.Response, error) {
	signer, err := s.signers.of(due.WebhookID, due.Secrets, a.StartedAt)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "webhooks: cannot sign; is a key missing from the keyring?", "webhook", due.WebhookID, "err", err)
		return nil, err
	}
	a.Signature = signer.Sign(a.StartedAt, due.Body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, due.URL, bytes.NewReader(due.Body))
	if err != nil {
		return nil, err
	}
	req.Header = due.Header(a.Signature)
	return s.http.Send(req)
}

// Header is what an attempt with that signature sends beside the body; HTTP adds its
// own.
func (d Delivery) Header(signed string) http.Header {
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
	return h
}
