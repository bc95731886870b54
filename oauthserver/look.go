package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// look is how a request finds its client. A code or a refresh token that it presents is
// found by the same statement, since that is what apps ask for most; it is judged only
// after the client. What is not the client's own is as unknown as what is not there.
type look struct {
	store Store

	code, token secret.Secret // what is presented, if it has the form of one
	foundCode   Code
	foundToken  RefreshToken
}

// presents takes what a request to the token endpoint is about.
func (l *look) presents(form apierror.Form) {
	switch form.Get("grant_type") {
	case grantCode:
		l.code, _ = secret.Parse(secret.AuthorizationCode, form.Get("code"))
	case grantRefresh:
		l.token, _ = secret.Parse(secret.RefreshToken, form.Get("refresh_token"))
	}
}

// Client is the store's. It costs more statements when what is presented is not the
// client's own; so how long it takes tells unknown clients from known ones no better than
// without it.
func (l *look) Client(ctx context.Context, clientID string) (Client, error) {
	var client Client
	err := ErrNotFound
	switch {
	case !l.code.IsZero():
		client, l.foundCode, err = l.store.ClientAndCode(ctx, clientID, l.code.Digest())
	case !l.token.IsZero():
		client, l.foundToken, err = l.store.ClientAndToken(ctx, clientID, l.token.TokenID(), l.token.Digest())
	}
	if errors.Is(err, ErrNotFound) {
		return l.store.Client(ctx, clientID)
	}
	return client, err
}

// ownCode is the code that was presented, if it is this client's.
func (l *look) ownCode(client authenticatedClient) (Code, error) {
	if l.foundCode.ID == "" || !client.owns(l.foundCode.Standing) {
		return Code{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return l.foundCode, nil
}

// ownToken is the refresh token that was presented, if it is this client's: a replay of
// another's burns nothing.
func (l *look) ownToken(client authenticatedClient) (RefreshToken, error) {
	if l.foundToken.FamilyID == "" || !client.owns(l.foundToken.Standing) {
		return RefreshToken{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return l.foundToken, nil
}
