package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// maxResponse bounds what is read of any response.
const maxResponse = 4 << 20

// Metadata holds the members of the server metadata (RFC 8414) that the client needs.
type Metadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	APIBaseURL            string   `json:"api_base_url"`
	ScopesSupported       []string `json:"scopes_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
}

// Discover reads the metadata of an issuer, and refuses those of another one (RFC
// 8414 section 3.3) or without what this client relies on.
func Discover(ctx context.Context, client *http.Client, issuer string) (Metadata, error) {
	var m Metadata
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+"/.well-known/oauth-authorization-server", nil)
	if err != nil {
		return m, err
	}
	res, err := client.Do(r)
	if err != nil {
		return m, fmt.Errorf("discovery: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return m, fmt.Errorf("discovery: %s", res.Status)
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, maxResponse)).Decode(&m); err != nil {
		return m, fmt.Errorf("discovery: %w", err)
	}
	switch {
	case m.Issuer != issuer:
		return m, fmt.Errorf("discovery: %s says that it is %s", issuer, m.Issuer)
	case m.AuthorizationEndpoint == "" || m.TokenEndpoint == "" || m.RevocationEndpoint == "" || m.APIBaseURL == "":
		return m, fmt.Errorf("discovery: %s lacks an endpoint", issuer)
	case !slices.Contains(m.ChallengeMethods, "S256"):
		return m, fmt.Errorf("discovery: %s does not know PKCE with S256", issuer)
	}
	return m, nil
}
