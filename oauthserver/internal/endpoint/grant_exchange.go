package endpoint

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

var errNoSessionID = errors.New("the verifier returned a session token without an id")

// grantExchange issues an access token to an embedded app for the session token of its user
// (RFC 8693). It needs no consent: the token depends on installation and user. It costs 6
// statements, including those for the client but not those of the verifier, and one commit.
func (s *Server) grantExchange(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	if client.Type != partner.Confidential {
		return tokenResponse{}, s.refuseClient(ctx, c)
	}
	subject, err := c.exchangeSubject()
	if err != nil {
		return tokenResponse{}, err
	}
	session, err := s.verifySubject(ctx, c, client, subject)
	if err != nil {
		return tokenResponse{}, err
	}
	member, err := s.IsMember(ctx, session.BusinessID, session.UserID)
	if err != nil {
		return tokenResponse{}, err
	}
	tokens := tokenpair.New(c.now)
	if !s.cfg.ExchangeRefresh {
		tokens.Refresh = secret.Secret{} // the app uses a new session token instead
	}
	issued, err := s.cfg.Store.ExchangeSession(ctx, oauthstore.Exchange{
		TokenID: session.ID, ExpiresAt: session.ExpiresAt, AppID: client.ID,
		BusinessID: session.BusinessID, UserID: session.UserID, InstallationID: session.InstallationID,
	}, s.NewTokens(tokens, c.now, member))
	if err != nil {
		return tokenResponse{}, apierror.Failed("exchange session token", err)
	}
	response, err := s.respond(ctx, c, tokens, issued, reasons{isFinal: true})
	response.IssuedTokenType = tokenTypeAccessToken
	return response, err
}

// exchangeSubject checks the parameters of an exchange and returns the subject token.
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

// verifySubject verifies the subject token. The response does not tell why a token is not
// valid.
func (s *Server) verifySubject(ctx context.Context, c call, client authenticatedClient, subject string) (sessiontoken.Token, error) {
	app, err := s.callingApp(ctx, c, client)
	if err != nil {
		return sessiontoken.Token{}, err
	}
	session, err := s.cfg.VerifySessionToken(ctx, app, subject, c.now)
	switch {
	case errors.Is(err, failure.Err):
		return sessiontoken.Token{}, apierror.Failed("verify session token", err)
	case err != nil, !c.now.Before(session.ExpiresAt):
		return sessiontoken.Token{}, oautherror.Grant(oautherror.GrantUnexplained)
	case session.ID == "": // all tokens without an id would count as one token
		return sessiontoken.Token{}, apierror.Failed("verify session token", errNoSessionID)
	}
	return session, nil
}
