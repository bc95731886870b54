package endpoint

import (
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
)

// The grant types (RFC 6749, RFC 8628, RFC 8693). Installation tokens are an option.
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

	grantInstallation = "client_credentials"
)

const responseCode = "code"

func supportedGrants() []string { return []string{grantCode, grantRefresh, grantDevice, grantExchange} }

// cacheable is how long others may keep the documents.
const cacheable = "public, max-age=3600"

// serverMetadata is the document of RFC 8414.
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	DeviceEndpoint        string   `json:"device_authorization_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	IntrospectionEndpoint string   `json:"introspection_endpoint"`
	KeysURI               string   `json:"jwks_uri"`
	APIBaseURL            string   `json:"api_base_url"` // an extension: the root of the REST API
	Scopes                []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
	// By options only; see oauthserver.Options.
	IssuerParameter bool     `json:"authorization_response_iss_parameter_supported,omitempty"`
	SigningMethods  []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
}

// serveServerMetadata depends on the configuration alone: the headers of a request must not
// change where clients are sent.
func (s *Server) serveServerMetadata(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", cacheable)
	scopes := s.cfg.Scopes.Names()
	if s.cfg.HideInternalScopes {
		scopes = s.cfg.Scopes.Requestable()
	}
	grants := supportedGrants()
	if s.cfg.CustomConnections {
		grants = append(grants, grantInstallation)
	}
	var signing []string
	if s.cfg.PrivateKeyJWT {
		signing = assertion.Algorithms()
	}
	return apierror.WriteJSON(w, http.StatusOK, serverMetadata{
		Issuer:                s.apiOrigin,
		AuthorizationEndpoint: s.appOrigin + core.AuthorizePath,
		TokenEndpoint:         s.apiOrigin + pathToken,
		DeviceEndpoint:        s.apiOrigin + pathDevice,
		RegistrationEndpoint:  s.apiOrigin + pathRegister,
		RevocationEndpoint:    s.apiOrigin + pathRevoke,
		IntrospectionEndpoint: s.apiOrigin + pathIntrospect,
		KeysURI:               s.apiOrigin + pathKeys,
		APIBaseURL:            s.apiOrigin,
		Scopes:                scopes.Names(),
		ResponseTypes:         []string{responseCode},
		GrantTypes:            grants,
		ChallengeMethods:      []string{"S256"},
		AuthMethods:           s.authMethods(),
		ClientDocuments:       true,
		IssuerParameter:       s.cfg.IssuerParameter,
		SigningMethods:        signing,
	})
}

// authMethods returns the ways in which clients authenticate, the default one first.
func (s *Server) authMethods() []string {
	methods := []string{clientmetadata.AuthBasic, clientmetadata.AuthPost, clientmetadata.AuthNone}
	if s.cfg.PrivateKeyJWT {
		methods = append(methods, clientmetadata.AuthKey)
	}
	return methods
}

// resourceDocument is the document of RFC 9728. Its scopes are such as apps may request,
// because clients that use the document request all of them.
type resourceDocument struct {
	Resource      string   `json:"resource"`
	Name          string   `json:"resource_name,omitempty"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
}

// resourceMetadata serves the metadata of a resource; the zero value is the API host as a
// whole.
func (s *Server) resourceMetadata(r core.Resource) apierror.Handler {
	document := resourceDocument{
		Resource: s.apiOrigin + r.Path, Name: r.Name, Servers: []string{s.apiOrigin},
		Scopes: r.Scopes, BearerMethods: []string{"header"},
	}
	if len(document.Scopes) == 0 {
		document.Scopes = s.cfg.Scopes.Requestable().Names()
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Cache-Control", cacheable)
		return apierror.WriteJSON(w, http.StatusOK, document)
	}
}

// serveJWKS publishes the keys that verify session tokens (RFC 7517).
func (s *Server) serveJWKS(w http.ResponseWriter, r *http.Request) error {
	set, err := s.keys.KeySet(r.Context(), s.cfg.Clock.Now())
	if err != nil {
		return failure.Wrap("publish signing keys", err)
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", sessiontoken.KeySetMaxAge/time.Second))
	return apierror.WriteJSON(w, http.StatusOK, set)
}
