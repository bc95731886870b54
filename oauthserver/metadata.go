package oauthserver

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// The grant types (RFC 6749, RFC 8628, RFC 8693).
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantDevice   = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// How clients authenticate (RFC 7591 section 2).
const (
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
	authNone  = "none"
)

const responseCode = "code"

func supportedGrants() []string { return []string{grantCode, grantRefresh, grantDevice, grantExchange} }

// cacheable is how long documents may be kept by those who read them.
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
}

// serveServerMetadata answers from the configuration alone: what a request says
// about hosts or schemes must not lead clients anywhere.
func (s *Server) serveServerMetadata(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", cacheable)
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
		Scopes:                s.cfg.Scopes.Names().Names(),
		ResponseTypes:         []string{responseCode},
		GrantTypes:            supportedGrants(),
		ChallengeMethods:      []string{"S256"},
		AuthMethods:           []string{authBasic, authPost, authNone},
		ClientDocuments:       true,
	})
}

// resourceMetadata is the document of RFC 9728. Its scopes are those that an app
// may ask for: clients that find their way by it ask for all of them.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
}

func (s *Server) serveResourceMetadata(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", cacheable)
	return apierror.WriteJSON(w, http.StatusOK, resourceMetadata{
		Resource:      s.apiOrigin,
		Servers:       []string{s.apiOrigin},
		Scopes:        s.cfg.Scopes.Requestable().Names(),
		BearerMethods: []string{"header"},
	})
}
