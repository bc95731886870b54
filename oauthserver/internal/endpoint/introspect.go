package endpoint

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/credentials"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// introspection is the response for a live token (RFC 7662 section 2.2). For any other token
// the response is inactive.
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

// serveIntrospect is the introspection endpoint (RFC 7662), for confidential clients and
// their own tokens. It costs 2 statements and no commit. For a suspended app that
// proves its secret, the response is that its tokens are not active.
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
// Authorization header only. Credentials in the form are ignored, except for a client
// assertion, which has no other place.
func readFormAndHeader(r *http.Request) (bodies.Form, credentials.Credentials, error) {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return nil, credentials.ReadBasic(r), err
	}
	delete(form, "client_id")
	delete(form, "client_secret")
	return form, credentials.ReadBasic(r), nil
}

// introspect returns nil for a token that is not live, or was not issued to the client.
func (s *Server) introspect(ctx context.Context, c call, client authenticatedClient, text string) (*introspection, error) {
	token, err := s.findToken(ctx, text)
	if err != nil || token == nil || !token.isLive(c.now) || !client.owns(token.standing.Owners) {
		return nil, err
	}
	if token.standing.IsForInstallation() {
		if !s.cfg.CustomConnections {
			return nil, nil
		}
		return token.introspection(token.standing.InstallationID), nil
	}
	member, err := s.IsMember(ctx, token.standing.BusinessID, token.standing.UserID)
	if err != nil || !member {
		return nil, err
	}
	return token.introspection(token.standing.UserID), nil
}

func (t foundToken) introspection(sub string) *introspection {
	return &introspection{Active: true, Scope: t.scopes.String(), Exp: t.expires.Unix(), ClientID: t.standing.ClientID, Sub: sub}
}

// foundToken is an access token or a refresh token.
type foundToken struct {
	accessID string // empty for a refresh token
	standing oauthstore.Standing
	scopes   identity.Scopes
	expires  time.Time
	ended    bool // revoked, or a refresh token that was used
}

func (t foundToken) isLive(now time.Time) bool {
	return !t.ended && now.Before(t.expires) && t.standing.IsAlive()
}

// findToken finds a token by its prefix, which a wrong hint cannot change; nil if it is
// unknown.
func (s *Server) findToken(ctx context.Context, text string) (found *foundToken, err error) {
	presented := secret.Wrap(text)
	switch kind, _ := secret.KindOf(text); kind {
	case secret.AccessToken:
		var t oauthstore.AccessToken
		t, err = s.cfg.Store.AccessToken(ctx, presented.TokenID(), presented.Digest())
		found = &foundToken{t.ID, t.Standing, t.EffectiveScopes(), t.ExpiresAt, t.Revoked}
	case secret.RefreshToken:
		var t oauthstore.RefreshToken
		t, err = s.cfg.Store.RefreshToken(ctx, presented.TokenID(), presented.Digest())
		scopes := t.FamilyScopes.Intersect(t.InstallationScopes).Intersect(t.AppScopes)
		found = &foundToken{"", t.Standing, scopes, t.ExpiresAt, t.Used}
	}
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, apierror.Failed("find token", err)
	}
	return found, nil
}
