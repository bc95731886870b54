package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// errLastSecret means that the app has no other valid secret.
var errLastSecret = errors.New("app has no other valid secret")

// AddClientSecret adds a secret to a confidential app and returns it. It cannot be read again.
// The other secret stays valid until the developer ends it. The error is [partner.ErrNotFound], or one
// of apierror if the app is PUBLIC, authenticates with private_key_jwt, or has [partner.MaxClientSecrets] valid
// secrets.
func (s *Server) AddClientSecret(ctx context.Context, appID string) (string, partner.ClientSecret, error) {
	app, err := s.cfg.Store.App(ctx, appID)
	if err != nil {
		return "", partner.ClientSecret{}, err
	}
	if app.Type != partner.Confidential {
		return "", partner.ClientSecret{}, codes.PublicAppHasNoSecrets.New()
	}
	if clientmetadata.HasKeys(app) { // a secret would be a second, weaker way to authenticate
		return "", partner.ClientSecret{}, apierror.Invalid("an app that authenticates with private_key_jwt has no client secret")
	}
	issued, record := core.NewClientSecret(appID, s.cfg.Clock.Now())
	err = s.cfg.Store.ChangeClientSecrets(ctx, appID, func(all []partner.ClientSecret) ([]partner.ClientSecret, error) { return append(all, record), nil })
	switch {
	case errors.Is(err, oauthstore.ErrTooManySecrets):
		return "", partner.ClientSecret{}, codes.SecretLimitReached.New(partner.MaxClientSecrets).WithCause(err)
	case err != nil:
		return "", partner.ClientSecret{}, err
	}
	s.core.Tell(ctx, events.Notification{Kind: events.NotifySecretCreated, AppID: appID, Detail: record.Prefix})
	return issued.Reveal(), record, nil
}

// EndClientSecret ends a secret at once. The error is [partner.ErrNotFound] if it is not a valid secret
// of the app, or one of apierror if it is the only valid one, whose end would lock out the app.
func (s *Server) EndClientSecret(ctx context.Context, appID, secretID string) error {
	now := s.cfg.Clock.Now()
	err := s.cfg.Store.ChangeClientSecrets(ctx, appID, func(all []partner.ClientSecret) ([]partner.ClientSecret, error) {
		return withoutSecret(all, secretID, now)
	})
	if errors.Is(err, errLastSecret) {
		return codes.LastSecret.New().WithCause(err)
	}
	if err == nil {
		s.core.Tell(ctx, events.Notification{Kind: events.NotifySecretRevoked, AppID: appID})
	}
	return err
}

// withoutSecret ends one of an app's secrets; [partner.ErrNotFound] when it is not valid, and
// [errLastSecret] when no other one is.
func withoutSecret(all []partner.ClientSecret, secretID string, now time.Time) ([]partner.ClientSecret, error) {
	ended, left := -1, 0
	for i, one := range all {
		switch {
		case !one.EndedAt.IsZero():
		case one.ID == secretID:
			ended = i
		default:
			left++
		}
	}
	switch {
	case ended < 0:
		return nil, partner.ErrNotFound
	case left == 0:
		return nil, errLastSecret
	}
	all[ended].EndedAt = now
	return all, nil
}
