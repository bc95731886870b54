package oauthserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// introspection is the answer about a live token (RFC 7662 section 2.2); about
// any other, nothing but active is said.
type introspection struct {
	Active   bool   `json:"active"`
	Scope    string `json:"scope"`
	Exp      int64  `json:"exp"`
	ClientID string `json:"client_id"`
	Sub      string `json:"sub"`
}

type inactive struct {
	Active bool `json:"active"`
}

// serveIntrospect is the introspection endpoint (RFC 7662), for confidential
// clients about their own tokens: 2 statements, no commit. A suspended app that
// proves its secret learns that its tokens are not active.
func (s *Server) serveIntrospect(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c, err := s.begin(r, endpointIntrospect, readFormAndHeader)
	if err != nil {
		return err
	}
	client, err := s.prove(ctx, c)
	if err != nil {
		return err
	}
	if !client.proved {
		return s.refuseClient(ctx, c)
	}
	text := c.form.Get("token")
	if text == "" {
		return invalidRequest("token is missing")
	}
	found, err := s.introspect(ctx, c, client, text)
	if err != nil {
		return err
	}
	forbidStoring(w)
	if found == nil {
		return apierror.WriteJSON(w, http.StatusOK, inactive{})
	}
	return apierror.WriteJSON(w, http.StatusOK, found)
}

// readFormAndHeader is the reader of an endpoint that takes credentials from the
// Authorization header only. Those in the form are not even looked at.
func readFormAndHeader(r *http.Request) (apierror.Form, credentials, error) {
	form, err := apierror.DecodeForm(r, apierror.FormLimits{})
	if err != nil {
		return nil, credentials{}, err
	}
	delete(form, "client_id")
	delete(form, "client_secret")
	return form, basicCredentials(r), nil
}

// introspect returns nil for a token that is not live, or not the client's.
func (s *Server) introspect(ctx context.Context, c call, client authenticatedClient, text string) (*introspection, error) {
	token, err := s.liveToken(ctx, c.now, text)
	if err != nil || token == nil || !client.owns(token.standing) {
		return nil, err
	}
	member, err := s.isMember(ctx, token.standing.BusinessID, token.standing.UserID)
	if err != nil || !member {
		return nil, err
	}
	return &introspection{
		Active: true, Scope: token.scopes.String(), Exp: token.expires.Unix(),
		ClientID: token.standing.ClientID, Sub: token.standing.UserID,
	}, nil
}

// foundToken is a live token of either kind.
type foundToken struct {
	standing Standing
	scopes   identity.Scopes
	expires  time.Time
}

// liveToken finds a token by its prefix, which a wrong hint cannot change; nil
// when it is unknown or dead.
func (s *Server) liveToken(ctx context.Context, now time.Time, text string) (*foundToken, error) {
	presented := secret.Wrap(text)
	switch kind, _ := secret.KindOf(text); kind {
	case secret.AccessToken:
		token, err := s.cfg.Store.AccessToken(ctx, presented.TokenID(), presented.Digest())
		if err != nil || !token.IsLive(now) {
			return nil, unlessNotFound("find access token", err)
		}
		return &foundToken{token.Standing, token.EffectiveScopes(), token.ExpiresAt}, nil
	case secret.RefreshToken:
		token, err := s.cfg.Store.RefreshToken(ctx, presented.TokenID(), presented.Digest())
		if err != nil || token.Used || !now.Before(token.ExpiresAt) || !token.IsAlive() {
			return nil, unlessNotFound("find refresh token", err)
		}
		scopes := token.FamilyScopes.Intersect(token.InstallationScopes).Intersect(token.AppScopes)
		return &foundToken{token.Standing, scopes, token.ExpiresAt}, nil
	}
	return nil, nil
}

// unlessNotFound tells faults from the answer that there is nothing.
func unlessNotFound(doing string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return nil
	}
	return apierror.Failed(doing, err)
}
