package oauthserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// document is a client metadata document: the members of RFC 7591 section 2 that
// mean something here. Others are ignored.
type document struct {
	ClientID      *string  `json:"client_id"`
	ClientName    *string  `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    *string  `json:"token_endpoint_auth_method"`
	Scope         *string  `json:"scope"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`

	// A document is public, so it cannot hold a secret.
	Secret        json.RawMessage `json:"client_secret"`
	SecretExpires json.RawMessage `json:"client_secret_expires_at"`

	documentNotes
}

// documentNotes are kept with the app; nothing is decided by them. Addresses that are no
// pages are left out.
type documentNotes struct {
	ClientURI       string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	TermsURI        string   `json:"tos_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	Contacts        []string `json:"contacts,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

// parseDocument reads the document that stands at the URL clientID and returns the
// app that it describes, without id and times. The error says what is wrong, for
// the operator's log; see decodeStrict for why nobody wraps it.
func parseDocument(clientID string, body []byte, catalog identity.ScopeCatalog) (App, error) {
	var d document
	if err := decodeStrict(body, &d, apierror.JSONLimits{IgnoreUnknown: true}); err != nil {
		return App{}, err
	}
	if err := d.check(clientID); err != nil {
		return App{}, err
	}
	scopes, err := d.scopes(catalog)
	if err != nil {
		return App{}, err
	}
	for _, address := range []*string{&d.ClientURI, &d.LogoURI, &d.TermsURI, &d.PolicyURI} {
		if !isPageURI(*address) {
			*address = ""
		}
	}
	notes, err := json.Marshal(d.documentNotes)
	if err != nil {
		return App{}, err
	}
	return App{
		ClientID: clientID, Type: Public, Status: AppActive, Origin: OriginDocument, Name: d.name(clientID),
		RedirectURIs: distinct(d.RedirectURIs), Scopes: scopes, Metadata: string(notes),
	}, nil
}

// name is what people see; a document without one goes by its host.
func (d document) name(clientID string) string {
	if d.ClientName != nil {
		return *d.ClientName
	}
	u, err := url.Parse(clientID)
	if err != nil {
		return clientID
	}
	return u.Host
}

// check judges everything but the scopes.
func (d document) check(clientID string) error {
	switch {
	case d.ClientID == nil || *d.ClientID != clientID:
		return errors.New("client_id is not the URL of the document")
	case d.AuthMethod != nil && *d.AuthMethod != "none":
		return errors.New("token_endpoint_auth_method must be none")
	case d.Secret != nil || d.SecretExpires != nil:
		return errors.New("a document must not have client_secret members")
	case len(d.RedirectURIs) == 0:
		return errors.New("redirect_uris must not be empty")
	// Absent means the defaults of RFC 7591, which both have. A document is
	// written for many servers: what only others know does not count.
	case d.GrantTypes != nil && !slices.ContainsFunc(d.GrantTypes, isDocumentGrant):
		return errors.New("grant_types has none that a public client can use here")
	case d.ResponseTypes != nil && !slices.Contains(d.ResponseTypes, "code"):
		return errors.New("response_types has none that is known here")
	}
	if d.ClientName != nil {
		if err := CheckAppName(*d.ClientName); err != nil {
			return fmt.Errorf("client_name %w", err)
		}
	}
	for i, uri := range d.RedirectURIs {
		if err := (RedirectRules{}).Check(uri); err != nil {
			return fmt.Errorf("redirect_uris[%d] %w", i, err)
		}
	}
	return nil
}

// scopes are those of the document that apps may request, all of them when it
// names none. What only other servers know does not count, as with grant types.
func (d document) scopes(catalog identity.ScopeCatalog) (identity.Scopes, error) {
	if d.Scope == nil {
		return catalog.Requestable(), nil
	}
	named, err := identity.ParseScopes(*d.Scope)
	if err != nil {
		return identity.Scopes{}, err
	}
	known := named.Intersect(catalog.Requestable())
	if known.IsEmpty() {
		return identity.Scopes{}, errors.New("scope has none that apps may request here")
	}
	return known, nil
}

// isDocumentGrant knows the grants of a public client: token exchange is for
// confidential ones.
func isDocumentGrant(name string) bool {
	switch name {
	case "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code":
		return true
	}
	return false
}
