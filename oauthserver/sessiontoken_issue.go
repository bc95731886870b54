package oauthserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/id"
)

// MintSession says for whom a session token is issued. The caller has
// authenticated the user.
type MintSession struct {
	// AppID or ClientID names the app; AppID counts when both are given.
	AppID, ClientID string
	BusinessID      string
	UserID          string
	// SessionID is the host's name for the user's session, such as the id of its
	// record. It is shown to the app, so it must not be the cookie. Empty means
	// a random one.
	SessionID string
}

// MintSessionToken makes a session token for an embedded app: a JWT that the app
// verifies with the published keys and exchanges, once and within a minute, for
// an access token. It refuses with [ErrNotFound] (no such app), [ErrPublicApp],
// [ErrAppNotUsable], [ErrNotInstalled], [ErrUserNotActive] or [ErrNotMember];
// faults wrap [ErrInternal].
func (s *Server) MintSessionToken(ctx context.Context, m MintSession) (string, error) {
	if m.BusinessID == "" || m.UserID == "" {
		return "", errors.New("mint session token: a business and a user are needed")
	}
	now := s.cfg.Clock.Now()
	app, err := s.sessionApp(ctx, m)
	if err != nil {
		return "", err
	}
	installation, err := s.cfg.Store.ActiveInstallation(ctx, app.ID, m.BusinessID)
	if errors.Is(err, ErrNotFound) {
		return "", ErrNotInstalled
	}
	if err != nil {
		return "", fmt.Errorf("%w: mint session token: %w", ErrInternal, err)
	}
	if err := s.checkSessionUser(ctx, m); err != nil {
		return "", err
	}
	if m.SessionID == "" {
		m.SessionID = id.New(id.Session, now)
	}
	issued := now.Unix()
	expires := issued + int64(SessionTokenLifetime/time.Second)
	return s.keys.sign(ctx, now, sessionClaims{
		Issuer: s.apiOrigin, Audience: app.ClientID, Subject: m.UserID, BusinessID: m.BusinessID, SessionID: m.SessionID,
		ID: sessionTokenID(installation.ID, rand.Text()), IssuedAt: &issued, Expires: &expires,
	})
}

// sessionApp finds an app that can exchange session tokens.
func (s *Server) sessionApp(ctx context.Context, m MintSession) (App, error) {
	var app App
	var err error
	if m.AppID != "" {
		app, err = s.cfg.Store.App(ctx, m.AppID)
	} else {
		app, err = s.cfg.Store.AppByClientID(ctx, m.ClientID)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return App{}, ErrNotFound
	case err != nil:
		return App{}, fmt.Errorf("%w: mint session token: %w", ErrInternal, err)
	case app.Type != Confidential:
		return App{}, ErrPublicApp
	case !app.IsUsable():
		return App{}, ErrAppNotUsable
	}
	return app, nil
}

func (s *Server) checkSessionUser(ctx context.Context, m MintSession) error {
	status, err := s.cfg.Store.UserStatus(ctx, m.UserID)
	if err != nil {
		return fmt.Errorf("%w: mint session token: %w", ErrInternal, err)
	}
	if status != UserActive {
		return ErrUserNotActive
	}
	member, err := s.cfg.Host.IsMember(ctx, m.BusinessID, m.UserID)
	if err != nil {
		return fmt.Errorf("%w: mint session token: %w", ErrInternal, err)
	}
	if !member {
		return ErrNotMember
	}
	return nil
}

// sign makes the token with the key whose time it is.
func (k *signingKeys) sign(ctx context.Context, now time.Time, claims sessionClaims) (string, error) {
	key, err := k.signer(ctx, now)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key.private, KeyID: key.ID}},
		new(jose.SignerOptions).WithType(sessionTokenType))
	if err != nil {
		return "", fmt.Errorf("%w: session token signer: %w", ErrInternal, err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("%w: encode session token: %w", ErrInternal, err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("%w: sign session token: %w", ErrInternal, err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("%w: serialize session token: %w", ErrInternal, err)
	}
	if len(token) > MaxSessionToken {
		return "", fmt.Errorf("mint session token: the ids of user, business and session are too long for a token of %d bytes", MaxSessionToken)
	}
	return token, nil
}
