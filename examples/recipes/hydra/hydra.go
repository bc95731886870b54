// Package hydra moves apps, their secrets and live refresh tokens from Ory Hydra 2. docs/moving-in.md
// explains the steps.
package hydra

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// Server is the Hydra that we leave.
type Server struct {
	DB *sql.DB
	// SystemSecret is the first of Hydra's secrets.system.
	SystemSecret string
	// Life is Hydra's ttl.refresh_token, 30 days by default.
	Life time.Duration
	// Business returns the business that a user has connected: Hydra knows users only.
	Business func(ctx context.Context, clientID, subject string) (string, error)
}

// Import imports the clients, and who has connected them: the subjects of live refresh tokens. A
// client that is not of use here, such as one with a scope that we do not have, ends it with an
// error that names the client. Call it again after an error.
func (s *Server) Import(ctx context.Context, p *partnerkit.Platform) (oauthserver.ImportReport, error) {
	apps, err := s.apps(ctx)
	if err != nil {
		return oauthserver.ImportReport{}, err
	}
	batch := oauthserver.Import{Apps: apps}
	rows, err := s.DB.QueryContext(ctx, "SELECT DISTINCT client_id, subject, granted_scope FROM hydra_oauth2_refresh WHERE active")
	if err != nil {
		return oauthserver.ImportReport{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var consent oauthserver.ImportedConsent
		var scope string
		if err := rows.Scan(&consent.ClientID, &consent.UserID, &scope); err != nil {
			return oauthserver.ImportReport{}, err
		}
		if consent.Scopes, err = identity.NewScopes(ours(scope)...); err != nil {
			return oauthserver.ImportReport{}, fmt.Errorf("scopes of %s: %w", consent.ClientID, err)
		}
		if consent.BusinessID, err = s.Business(ctx, consent.ClientID, consent.UserID); err != nil {
			return oauthserver.ImportReport{}, err
		}
		batch.Consents = append(batch.Consents, consent)
		batch.Installations = append(batch.Installations, oauthserver.ImportedInstallation{
			ClientID: consent.ClientID, BusinessID: consent.BusinessID, Scopes: consent.Scopes,
		})
	}
	if err := rows.Err(); err != nil {
		return oauthserver.ImportReport{}, err
	}
	return p.Import(ctx, batch)
}

func (s *Server) apps(ctx context.Context) (apps []oauthserver.ImportedApp, err error) {
	rows, err := s.DB.QueryContext(ctx, "SELECT id, client_name, owner, client_secret, scope, redirect_uris, token_endpoint_auth_method, created_at FROM hydra_client")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var app oauthserver.ImportedApp
		var secret, scope, redirects, method string
		if err := rows.Scan(&app.ClientID, &app.Name, &app.OrganizationID, &secret, &scope, &redirects, &method, &app.CreatedAt); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(redirects), &app.RedirectURIs); err != nil {
			return nil, fmt.Errorf("redirect URIs of %s: %w", app.ClientID, err)
		}
		if app.Scopes, err = identity.NewScopes(ours(scope)...); err != nil {
			return nil, fmt.Errorf("scopes of %s: %w", app.ClientID, err)
		}
		app.Type = partner.Public
		if method != "none" {
			app.Type, app.Secrets = partner.Confidential, []string{secret} // the digest, as it is
		}
		apps = append(apps, app)
	}
	return apps, rows.Err()
}

// ours leaves out the scopes of OpenID Connect, which this library does not have: refresh tokens
// are always issued, and it signs nobody in.
func ours(scope string) (kept []string) {
	for _, name := range strings.Fields(strings.ReplaceAll(scope, "|", " ")) {
		if name != "openid" && name != "offline" && name != "offline_access" {
			kept = append(kept, name)
		}
	}
	return kept
}

// RefreshToken finds a live refresh token: Options.ForeignRefreshTokens. Stop Hydra first, or give
// it no more traffic. An error is a 5xx, and the client tries again.
func (s *Server) RefreshToken(ctx context.Context, asked oauthserver.ForeignToken) (oauthserver.ForeignGrant, bool, error) {
	signature, ok := s.signature(asked.Token)
	if !ok {
		return oauthserver.ForeignGrant{}, false, nil
	}
	var grant oauthserver.ForeignGrant
	var scope string
	var requested time.Time
	err := s.DB.QueryRowContext(ctx, "SELECT subject, granted_scope, requested_at FROM hydra_oauth2_refresh WHERE signature = $1 AND client_id = $2 AND active",
		signature, asked.ClientID).Scan(&grant.UserID, &scope, &requested)
	if errors.Is(err, sql.ErrNoRows) {
		return oauthserver.ForeignGrant{}, false, nil
	}
	if err != nil {
		return oauthserver.ForeignGrant{}, false, err
	}
	grant.ExpiresAt = requested.Add(s.Life)
	if grant.Scopes, err = identity.NewScopes(ours(scope)...); err != nil {
		return oauthserver.ForeignGrant{}, false, err
	}
	grant.BusinessID, err = s.Business(ctx, asked.ClientID, grant.UserID)
	return grant, err == nil && grant.BusinessID != "", err
}

// signature checks that Hydra made a token, ory_rt_<key>.<signature>, and returns the signature.
func (s *Server) signature(token string) (string, bool) {
	key, signature, _ := strings.Cut(strings.TrimPrefix(token, "ory_rt_"), ".")
	random, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return "", false
	}
	given, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return "", false
	}
	secret := sha256.Sum256([]byte(s.SystemSecret))
	mac := hmac.New(sha512.New512_256, secret[:])
	mac.Write(random)
	return signature, hmac.Equal(given, mac.Sum(nil))
}
