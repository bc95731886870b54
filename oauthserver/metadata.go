package oauthserver

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
)

// The grant types (RFC 6749, RFC 8628, RFC 8693). Installation tokens are an option.
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

	grantInstallation = "client_credentials"
)

// How clients authenticate (RFC 7591 section 2).
const (
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
	authNone  = "none"
	authKey   = "private_key_jwt"
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
	// By options only; see [Options].
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
		AuthorizationEndpoint: s.appOrigin + "/oauth/authorize",
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
	methods := []string{authBasic, authPost, authNone}
	if s.cfg.PrivateKeyJWT {
		methods = append(methods, authKey)
	}
	return methods
}
