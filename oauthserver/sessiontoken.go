package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/partner"
)

// SessionToken is the content of a verified subject token of token exchange.
type SessionToken struct {
	ID             string // jti: a token is used once
	UserID         string
	BusinessID     string
	SessionID      string
	InstallationID string // that the token was issued for; empty if the format has none
	ExpiresAt      time.Time
}

// The reasons why no session token is issued; match with errors.Is.
var (
	// ErrPublicApp: a PUBLIC app cannot exchange session tokens.
	ErrPublicApp = errors.New("a PUBLIC app gets no session tokens")
	// ErrAppNotUsable: the app is suspended or deactivated.
	ErrAppNotUsable = errors.New("the app is suspended or deactivated")
	// ErrNotInstalled: the business has no ACTIVE installation of the app.
	ErrNotInstalled = errors.New("the app is not installed in the business")
	// ErrNotMember: the user is not a member of the business.
	ErrNotMember = errors.New("the user is not a member of the business")
	// ErrUserNotActive: the user is suspended or restricted.
	ErrUserNotActive = errors.New("the user is suspended or restricted")
)

// NewSessionToken describes a session token to be issued. The caller has authenticated the
// user.
type NewSessionToken struct {
	// AppID or ClientID names the app. ClientID is not read if AppID is set.
	AppID, ClientID string
	BusinessID      string
	UserID          string
	// SessionID is the host's name for the user's session, such as the id of its
	// record. The app can read it, so it must not be the cookie. Empty means a random
	// id.
	SessionID string
}

// IssueSessionToken issues a session token for an embedded app: a JWT that the app verifies
// with the published keys and exchanges, once and within a minute, for an access token. It
// returns [partner.ErrNotFound] (no such app), [ErrPublicApp], [ErrAppNotUsable], [ErrNotInstalled],
// [ErrUserNotActive] or [ErrNotMember]; internal errors wrap [ErrInternal].
func (s *Server) IssueSessionToken(ctx context.Context, t NewSessionToken) (string, error) {
	if t.BusinessID == "" || t.UserID == "" {
		return "", errors.New("issue session token: a business and a user are needed")
	}
	now := s.cfg.Clock.Now()
	app, err := s.sessionApp(ctx, t)
	if err != nil {
		return "", err
	}
	installations, err := s.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: app.ID, BusinessID: t.BusinessID})
	if err != nil {
		return "", failure.Wrap("issue session token", err)
	}
	if len(installations) == 0 {
		return "", ErrNotInstalled
	}
	installation := installations[0]
	if err := s.checkSessionUser(ctx, t); err != nil {
		return "", err
	}
	if t.SessionID == "" {
		t.SessionID = id.New(id.Session, now)
	}
	token, err := s.core.Keys.Issue(ctx, app.ClientID, sessiontoken.Token{
		UserID: t.UserID, BusinessID: t.BusinessID, SessionID: t.SessionID, InstallationID: installation.ID,
	}, now)
	switch {
	case err != nil:
		return "", failure.Wrap("issue session token", err)
	case len(token) > sessiontoken.MaxLength:
		return "", fmt.Errorf("issue session token: the ids of user, business and session are too long for a token of %d bytes", sessiontoken.MaxLength)
	}
	return token, nil
}

// sessionApp returns an app that can exchange session tokens.
func (s *Server) sessionApp(ctx context.Context, t NewSessionToken) (partner.App, error) {
	var app partner.App
	var err error
	if t.AppID != "" {
		app, err = s.cfg.Store.App(ctx, t.AppID)
	} else {
		app, err = s.core.AppByClientID(ctx, t.ClientID)
	}
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return partner.App{}, partner.ErrNotFound
	case err != nil:
		return partner.App{}, failure.Wrap("issue session token", err)
	case app.Type != partner.Confidential:
		return partner.App{}, ErrPublicApp
	case !app.IsUsable():
		return partner.App{}, ErrAppNotUsable
	}
	return app, nil
}

func (s *Server) checkSessionUser(ctx context.Context, t NewSessionToken) error {
	status, err := s.cfg.Store.UserStatus(ctx, t.UserID)
	if err != nil {
		return failure.Wrap("issue session token", err)
	}
	if status != identity.UserActive {
		return ErrUserNotActive
	}
	member, err := s.cfg.Host.IsMember(ctx, t.BusinessID, t.UserID)
	if err != nil {
		return failure.Wrap("issue session token", err)
	}
	if !member {
		return ErrNotMember
	}
	return nil
}

// verifyIssued verifies the tokens of [Server.IssueSessionToken]. Its errors quote nothing of the
// token.
func verifyIssued(keys *sessiontoken.Keys) func(ctx context.Context, app partner.App, token string, now time.Time) (SessionToken, error) {
	return func(ctx context.Context, app partner.App, token string, now time.Time) (SessionToken, error) {
		verified, err := keys.Verify(ctx, app.ClientID, token, now)
		if _, rejected := errors.AsType[sessiontoken.Rejection](err); err != nil && !rejected {
			return SessionToken{}, failure.Wrap("verify session token", err)
		}
		return SessionToken(verified), err
	}
}
