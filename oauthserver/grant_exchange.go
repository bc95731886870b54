package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

var errNoSessionID = errors.New("the verifier returned a session token without an id")

// sessionVerifier verifies subject tokens: those of the server's own format,
// unless the host has another.
func (s *Server) sessionVerifier() SessionTokenVerifier { return s.cfg.SessionTokens }

// grantExchange gives an embedded app an access token for the session token of
// the user in front of it (RFC 8693). Consent is not asked for: the token hangs
// on installation and user. It costs 6 statements, the client's included, and one
// commit; what the verifier reads is not counted.
func (s *Server) grantExchange(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	if client.Type != Confidential {
		return tokenAnswer{}, s.refuseClient(ctx, c)
	}
	subject, err := c.exchangeSubject()
	if err != nil {
		return tokenAnswer{}, err
	}
	session, err := s.verifySubject(ctx, c, client, subject)
	if err != nil {
		return tokenAnswer{}, err
	}
	if err := s.requireMember(ctx, session.BusinessID, session.UserID); err != nil {
		return tokenAnswer{}, err
	}
	tokens := newPair(c.now)
	if !s.cfg.ExchangeRefresh {
		tokens.refresh = secret.Secret{} // the app gets a new session token instead
	}
	issued, err := s.cfg.Store.ExchangeSession(ctx, Exchange{
		TokenID: session.ID, ExpiresAt: session.ExpiresAt, AppID: client.ID,
		BusinessID: session.BusinessID, UserID: session.UserID, InstallationID: session.InstallationID,
	}, tokens.issue(c.now))
	if err != nil {
		return tokenAnswer{}, apierror.Failed("exchange session token", err)
	}
	if err := s.settle(ctx, c, issued.Outcome, reasons{}); err != nil {
		return tokenAnswer{}, err
	}
	answer := tokens.answer(issued.Scopes)
	answer.IssuedTokenType = tokenTypeAccessToken
	return answer, nil
}

// exchangeSubject reads the parameters of an exchange and returns the subject
// token.
func (c call) exchangeSubject() (string, error) {
	kind, err := c.parameter("subject_token_type", maxParameter)
	switch {
	case err != nil:
		return "", err
	case kind != tokenTypeJWT:
		return "", invalidRequest("subject_token_type is not supported")
	case c.form.Has("requested_token_type") && c.form.Get("requested_token_type") != tokenTypeAccessToken:
		return "", invalidRequest("requested_token_type is not supported")
	}
	return c.parameter("subject_token", maxSubjectToken)
}

// verifySubject asks the verifier. Whatever is wrong with the token is answered
// in the same way; only a fault is something else.
func (s *Server) verifySubject(ctx context.Context, c call, client authenticatedClient, subject string) (SessionToken, error) {
	app, err := s.callingApp(ctx, c, client)
	if err != nil {
		return SessionToken{}, err
	}
	session, err := s.sessionVerifier().VerifySessionToken(ctx, app, subject, c.now)
	switch {
	case errors.Is(err, ErrInternal):
		return SessionToken{}, apierror.Failed("verify session token", err)
	case err != nil, !c.now.Before(session.ExpiresAt):
		return SessionToken{}, apierror.GrantError(apierror.GrantUnexplained)
	case session.ID == "": // all such tokens would be one, used once
		return SessionToken{}, apierror.Failed("verify session token", errNoSessionID)
	}
	return session, nil
}
