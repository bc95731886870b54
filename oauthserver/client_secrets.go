package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// MaxClientSecrets is how many secrets of an app are valid at a time: the one in
// use and the one that is being moved to.
const MaxClientSecrets = 2

// secretPrefix is how much of a client secret is kept to tell it from others:
// its kind and four characters.
const secretPrefix = len("pk_cs_") + 4

func newClientSecret(appID string, now time.Time) (secret.Secret, ClientSecret) {
	issued := secret.New(secret.ClientSecret)
	return issued, ClientSecret{
		ID: id.New(id.Secret, now), AppID: appID, Digest: issued.Digest(), Prefix: issued.Reveal()[:secretPrefix], CreatedAt: now,
	}
}

// AddClientSecret gives a confidential app one more secret and returns it, for
// the only time. The one before stays valid until the developer ends it.
// [ErrNotFound], or an error of apierror: the app is PUBLIC, or has
// [MaxClientSecrets] that are valid.
func (s *Server) AddClientSecret(ctx context.Context, appID string) (string, ClientSecret, error) {
	app, err := s.cfg.Store.App(ctx, appID)
	if err != nil {
		return "", ClientSecret{}, err
	}
	if app.Type != Confidential {
		return "", ClientSecret{}, apierror.New(apierror.PublicAppHasNoSecrets)
	}
	issued, record := newClientSecret(appID, s.cfg.Clock.Now())
	switch err := s.cfg.Store.AddClientSecret(ctx, record, MaxClientSecrets); {
	case errors.Is(err, ErrTooManySecrets):
		return "", ClientSecret{}, apierror.New(apierror.SecretLimitReached, MaxClientSecrets).WithCause(err)
	case err != nil:
		return "", ClientSecret{}, err
	}
	return issued.Reveal(), record, nil
}

// EndClientSecret ends a secret at once; [ErrNotFound] when it is not the app's
// or has ended already, or an error of apierror when it is the only valid one:
// that would lock the app out, and whoever wants it suspends the app.
func (s *Server) EndClientSecret(ctx context.Context, appID, secretID string) error {
	err := s.cfg.Store.EndClientSecret(ctx, appID, secretID, s.cfg.Clock.Now())
	if errors.Is(err, ErrLastSecret) {
		return apierror.New(apierror.LastSecret).WithCause(err)
	}
	return err
}
