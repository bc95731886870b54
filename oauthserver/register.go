package oauthserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// registrationAnswer is the answer of RFC 7591 section 3.2.1. The secret's
// members are for clients that have one.
type registrationAnswer struct {
	ClientID        string `json:"client_id"`
	IssuedAt        int64  `json:"client_id_issued_at"`
	ClientSecret    string `json:"client_secret,omitempty"`
	SecretExpiresAt *int   `json:"client_secret_expires_at,omitempty"`
	clientMetadata
}

// serveRegister is dynamic client registration (RFC 7591). What it registers is
// an unreviewed app, which can connect only where its organization says so.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c := s.newCall(r, endpointRegister)
	if err := s.limit(ctx, c); err != nil {
		return err
	}
	// Member by member: each has an error of its own.
	var members map[string]json.RawMessage
	limits := apierror.JSONLimits{MaxBytes: apierror.OAuthBodyLimit, Lists: registrationLists()}
	if err := apierror.DecodeJSON(r, &members, limits); err != nil {
		return err
	}
	registrar, err := s.registrar(r)
	if err != nil {
		return err
	}
	metadata, err := s.readClientMetadata(members)
	if err != nil {
		return err
	}
	app, clientSecret, err := s.register(ctx, c.now, registrar, metadata)
	if err != nil {
		return err
	}
	answer := registrationAnswer{ClientID: app.ClientID, IssuedAt: c.now.Unix(), clientMetadata: metadata}
	if !clientSecret.IsZero() {
		answer.ClientSecret, answer.SecretExpiresAt = clientSecret.Reveal(), new(int)
	}
	forbidStoring(w)
	return apierror.WriteJSON(w, http.StatusCreated, answer)
}

// registrar is on whose account a registration goes.
type registrar struct {
	token          *Digest // its organization, when there is one
	organizationID string
}

// registrar reads the registration token, or asks the policy about a request
// without.
func (s *Server) registrar(r *http.Request) (registrar, error) {
	text, sent := bearer(r)
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
	case errors.Is(err, ErrRegistrationRefused):
		return registrar{}, errRegistration()
	case err != nil:
		return registrar{}, apierror.Failed("ask the registration policy", err)
	}
	return registrar{organizationID: organizationID}, nil
}

// register creates the app, using up the registration token.
func (s *Server) register(ctx context.Context, now time.Time, by registrar, m clientMetadata) (App, secret.Secret, error) {
	app := App{
		ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: Public, Status: AppActive,
		Origin: OriginRegistered, Name: m.Name, OrganizationID: by.organizationID,
		RedirectURIs: m.RedirectURIs, Scopes: m.scopes, Metadata: m.encode(), CreatedAt: now,
	}
	var clientSecret secret.Secret
	var secrets []ClientSecret
	if m.AuthMethod != authNone {
		var record ClientSecret
		clientSecret, record = newClientSecret(app.ID, now)
		app.Type, secrets = Confidential, []ClientSecret{record}
	}
	app, err := s.cfg.Store.RegisterApp(ctx, Registration{App: app, Secrets: secrets, Token: by.token, Now: now, MaxApps: s.cfg.MaxApps})
	switch {
	case errors.Is(err, ErrNotFound):
		return App{}, secret.Secret{}, errRegistration()
	case errors.Is(err, ErrTooManyApps):
		// Neither other metadata nor another token would help.
		return App{}, secret.Secret{}, apierror.NewOAuth(apierror.AccessDenied, s.tooManyApps())
	case err != nil:
		return App{}, secret.Secret{}, apierror.Failed("register app", err)
	}
	return app, clientSecret, nil
}

// IssueRegistrationToken makes a token that lets its bearer register one app for
// the organization, within [RegistrationTokenLifetime], and returns its record.
// Reveal the token to the person who asked; nobody can read it again.
func (s *Server) IssueRegistrationToken(ctx context.Context, organizationID string) (secret.Secret, RegistrationToken, error) {
	if organizationID == "" {
		return secret.Secret{}, RegistrationToken{}, errors.New("issue registration token: no organization")
	}
	now := s.cfg.Clock.Now()
	token := secret.New(secret.RegistrationToken)
	record := RegistrationToken{
		ID: id.New(id.RegistrationToken, now), Digest: token.Digest(), OrganizationID: organizationID,
		CreatedAt: now, ExpiresAt: now.Add(RegistrationTokenLifetime),
	}
	if err := s.cfg.Store.CreateRegistrationToken(ctx, record); err != nil {
		return secret.Secret{}, RegistrationToken{}, apierror.Failed("issue registration token", err)
	}
	return token, record, nil
}

// bearer returns the token of the Authorization header, and whether one was
// sent: an empty one, or two, are a token too, and no good one.
func bearer(r *http.Request) (token string, sent bool) {
	values := r.Header.Values("Authorization")
	for _, value := range values {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if len(values) > 1 {
			return "", true
		}
		return strings.TrimSpace(rest), true
	}
	return "", false
}

func errRegistration() error {
	return apierror.NewOAuth(apierror.InvalidClient, "registration needs a valid registration token")
}
