package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// registrationResponse is the response of RFC 7591 section 3.2.1. Its two members for the
// secret are absent for clients without one.
type registrationResponse struct {
	ClientID        string `json:"client_id"`
	IssuedAt        int64  `json:"client_id_issued_at"`
	ClientSecret    string `json:"client_secret,omitempty"`
	SecretExpiresAt *int   `json:"client_secret_expires_at,omitempty"`
	clientmetadata.Client
}

// serveRegister is dynamic client registration (RFC 7591). It registers an unreviewed app,
// which can be connected to sandbox businesses of its organization only.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c := s.newCall(r, endpointRegister)
	if err := s.limit(ctx, c); err != nil {
		return err
	}
	// Member by member: each has an error of its own.
	var members map[string]json.RawMessage
	rules := s.registrationRules()
	limits := strictjson.Limits{MaxBytes: bodies.MaxForm, Lists: rules.Lists()}
	if err := strictjson.Decode(r, &members, limits); err != nil {
		return err
	}
	c.now = s.cfg.Clock.Now() // again: the client may have sent the body much later
	registrar, err := s.registrar(r)
	if err != nil {
		return err
	}
	metadata, err := rules.Read(members)
	if err != nil {
		return err
	}
	app, clientSecret, err := s.register(ctx, c.now, registrar, metadata)
	if err != nil {
		return err
	}
	response := registrationResponse{ClientID: app.ClientID, IssuedAt: c.now.Unix(), Client: metadata}
	if !clientSecret.IsZero() {
		response.ClientSecret, response.SecretExpiresAt = clientSecret.Reveal(), new(int)
	}
	forbidStoring(w)
	return apierror.WriteJSON(w, http.StatusCreated, response)
}

// registrationRules returns the rules for the metadata of a registration.
func (s *Server) registrationRules() clientmetadata.Rules {
	return clientmetadata.Rules{
		Scopes:          s.cfg.Scopes,
		AuthMethods:     s.authMethods(),
		CheckKeysURI:    s.documents.CheckKeysURI,
		GrantTypes:      supportedGrants(),
		MaxRedirectURIs: 5, PrivateUseSchemes: s.cfg.PrivateUseSchemes,
	}
}

// registrar is the organization that an app is registered for.
type registrar struct {
	token          *storage.Digest // names the organization, if it is not nil
	organizationID string
}

// registrar reads the registration token. Without a token it calls the host's policy.
func (s *Server) registrar(r *http.Request) (registrar, error) {
	text, sent := header.Authorization(r.Header, "Bearer")
	if sent {
		token, err := secret.Parse(secret.RegistrationToken, text)
		if err != nil {
			return registrar{}, errRegistration()
		}
		digest := token.Digest()
		return registrar{token: &digest}, nil
	}
	if s.cfg.Registration == nil {
		return registrar{}, errRegistration()
	}
	organizationID, err := s.cfg.Registration(r)
	switch {
	case errors.Is(err, core.ErrRegistrationRefused):
		return registrar{}, errRegistration()
	case err != nil:
		return registrar{}, apierror.Failed("ask the registration policy", err)
	}
	return registrar{organizationID: organizationID}, nil
}

// register creates the app and uses up the registration token.
func (s *Server) register(ctx context.Context, now time.Time, by registrar, m clientmetadata.Client) (partner.App, secret.Secret, error) {
	app := partner.App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: partner.Public, Status: partner.AppActive,
		Origin: partner.OriginRegistered, Name: m.Name, OrganizationID: by.organizationID,
		RedirectURIs: m.RedirectURIs, Scopes: m.Scopes, Metadata: clientmetadata.Encode(m.Details), CreatedAt: now, Version: 1,
	}
	if m.AuthMethod != clientmetadata.AuthNone {
		app.Type = partner.Confidential
	}
	if s.cfg.RegisteredScopesAsDefault {
		app.Scopes = s.cfg.Scopes.Requestable()
		app.Metadata = clientmetadata.Encode(clientmetadata.Registered{Details: m.Details, Scope: m.Scope})
	}
	app, clientSecret, err := s.AddApp(ctx, app, by.token)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return partner.App{}, secret.Secret{}, errRegistration()
	case errors.Is(err, oauthstore.ErrTooManyApps):
		// Neither other metadata nor another token would help.
		return partner.App{}, secret.Secret{}, oautherror.New(oautherror.AccessDenied, s.TooManyApps())
	case err != nil:
		return partner.App{}, secret.Secret{}, apierror.Failed("register app", err)
	}
	return app, clientSecret, nil
}

func errRegistration() error {
	return oautherror.New(oautherror.InvalidClient, "registration needs a valid registration token")
}
