package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// MaxClientSecrets is how many valid secrets an app may have: the one in use and the one that
// replaces it.
const MaxClientSecrets = 2

// ErrLastSecret means that the app has no other valid secret.
var ErrLastSecret = errors.New("app has no other valid secret")

// secretPrefix is how much of a client secret is kept to recognize it: its kind and four
// characters.
const secretPrefix = len("pk_cs_") + 4

func newClientSecret(appID string, now time.Time) (secret.Secret, ClientSecret) {
	issued := secret.New(secret.ClientSecret)
	return issued, ClientSecret{
		ID: id.New(id.Secret, now), AppID: appID, Digest: issued.Digest(), Prefix: issued.Reveal()[:secretPrefix], CreatedAt: now,
	}
}

// AddClientSecret adds a secret to a confidential app and returns it. It cannot be read again.
// The other secret stays valid until the developer ends it. The error is [ErrNotFound], or one
// of apierror if the app is PUBLIC, authenticates with private_key_jwt, or has [MaxClientSecrets] valid
// secrets.
func (s *Server) AddClientSecret(ctx context.Context, appID string) (string, ClientSecret, error) {
	app, err := s.cfg.Store.App(ctx, appID)
	if err != nil {
		return "", ClientSecret{}, err
	}
	if app.Type != Confidential {
		return "", ClientSecret{}, apierror.New(apierror.PublicAppHasNoSecrets)
	}
	if app.HasKeys() { // a secret would be a second, weaker way to authenticate
		return "", ClientSecret{}, apierror.Invalid("an app that authenticates with private_key_jwt has no client secret")
	}
	issued, record := newClientSecret(appID, s.cfg.Clock.Now())
	err = s.cfg.Store.ChangeClientSecrets(ctx, appID, func(all []ClientSecret) ([]ClientSecret, error) { return append(all, record), nil })
	switch {
	case errors.Is(err, ErrTooManySecrets):
		return "", ClientSecret{}, apierror.New(apierror.SecretLimitReached, MaxClientSecrets).WithCause(err)
	case err != nil:
		return "", ClientSecret{}, err
	}
	s.tell(ctx, events.Notification{Kind: events.NotifySecretCreated, AppID: appID, Detail: record.Prefix})
	return issued.Reveal(), record, nil
}

// EndClientSecret ends a secret at once. The error is [ErrNotFound] if it is not a valid secret
// of the app, or one of apierror if it is the only valid one, whose end would lock out the app.
func (s *Server) EndClientSecret(ctx context.Context, appID, secretID string) error {
	now := s.cfg.Clock.Now()
	err := s.cfg.Store.ChangeClientSecrets(ctx, appID, func(all []ClientSecret) ([]ClientSecret, error) { return withoutSecret(all, secretID, now) })
	if errors.Is(err, ErrLastSecret) {
		return apierror.New(apierror.LastSecret).WithCause(err)
	}
	if err == nil {
		s.tell(ctx, events.Notification{Kind: events.NotifySecretRevoked, AppID: appID})
	}
	return err
}

// withoutSecret ends one of an app's secrets; [ErrNotFound] when it is not valid, and
// [ErrLastSecret] when no other one is.
func withoutSecret(all []ClientSecret, secretID string, now time.Time) ([]ClientSecret, error) {
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
		return nil, ErrNotFound
	case left == 0:
		return nil, ErrLastSecret
	}
	all[ended].EndedAt = now
	return all, nil
}
