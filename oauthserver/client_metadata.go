package oauthserver

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// The bounds of what a client may say about itself, in characters and entries.
const (
	maxRedirectURIs = 5
	maxMetadataText = 255
	maxMetadataURI  = 512
	maxMetadataList = 20
)

// clientMetadata is what a client registered about itself (RFC 7591 section 2),
// defaults filled in.
type clientMetadata struct {
	RedirectURIs []string `json:"redirect_uris"`
	Name         string   `json:"client_name"`
	Scope        string   `json:"scope"`
	clientDetails

	scopes identity.Scopes
}

// clientDetails are what an app has no field for: [App.Metadata].
type clientDetails struct {
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	ClientURI       string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	TermsURI        string   `json:"tos_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	Contacts        []string `json:"contacts,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

// readClientMetadata judges a registration. Members that it does not know are
// ignored; what a client says about itself never widens what it may do.
func (s *Server) readClientMetadata(members map[string]json.RawMessage) (clientMetadata, error) {
	m := metadataReader{members: members}
	uris, err := m.redirectURIs()
	if err != nil {
		return clientMetadata{}, err
	}
	read := clientMetadata{RedirectURIs: uris, Name: m.name(), scopes: m.scope(s.cfg.Scopes)}
	read.clientDetails = clientDetails{
		AuthMethod:      m.choice("token_endpoint_auth_method", authBasic, authPost, authNone),
		GrantTypes:      m.subset("grant_types", []string{grantCode}, supportedGrants()),
		ResponseTypes:   m.subset("response_types", []string{responseCode}, []string{responseCode}),
		ClientURI:       m.uri("client_uri"),
		LogoURI:         m.uri("logo_uri"),
		TermsURI:        m.uri("tos_uri"),
		PolicyURI:       m.uri("policy_uri"),
		Contacts:        m.list("contacts"),
		SoftwareID:      m.text("software_id", maxMetadataText),
		SoftwareVersion: m.text("software_version", maxMetadataText),
	}
	read.Scope = read.scopes.String()
	if m.problem != "" {
		return clientMetadata{}, apierror.NewOAuth(apierror.InvalidClientMetadata, m.problem)
	}
	return read, nil
}

// encode is the form in which an app keeps them.
func (d clientDetails) encode() string {
	encoded, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(encoded)
}

// metadataReader reads members and remembers the first problem.
type metadataReader struct {
	members map[string]json.RawMessage
	problem string
}

func (m *metadataReader) fail(format string, args ...any) {
	if m.problem == "" {
		m.problem = fmt.Sprintf(format, args...)
	}
}

// decode reports whether the member is there; null means that it is not.
func (m *metadataReader) decode(name string, into any) bool {
	raw, ok := m.members[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		m.fail("%s has the wrong type", name)
		return false
	}
	return true
}

// registrationLists bound the lists of a registration, with the errors that they have
// anyway.
func registrationLists() map[string]apierror.List {
	return map[string]apierror.List{
		"redirect_uris": {Most: maxRedirectURIs, Refusal: errRedirectURIs()},
		"contacts":      {Most: maxMetadataList, Refusal: apierror.NewOAuth(apierror.InvalidClientMetadata, errList("contacts"))},
		// Most of them may be for other servers.
		"grant_types":    {Most: 100, Refusal: apierror.NewOAuth(apierror.InvalidClientMetadata, "grant_types has more than 100 entries")},
		"response_types": {Most: 100, Refusal: apierror.NewOAuth(apierror.InvalidClientMetadata, "response_types has more than 100 entries")},
	}
}

func errRedirectURIs() error {
	return apierror.NewOAuth(apierror.InvalidRedirectURI, "redirect_uris must be a list of 1 to 5 URIs")
}

func errList(name string) string {
	return fmt.Sprintf("%s is not a list of at most %d lines", name, maxMetadataList)
}

// redirectURIs have an error of their own (RFC 7591 section 3.2.2).
func (m *metadataReader) redirectURIs() ([]string, error) {
	var uris []string
	if !m.decode("redirect_uris", &uris) || len(uris) == 0 || len(uris) > maxRedirectURIs {
		return nil, errRedirectURIs()
	}
	for i, uri := range uris {
		if err := (RedirectRules{}).Check(uri); err != nil {
			return nil, apierror.NewOAuth(apierror.InvalidRedirectURI, fmt.Sprintf("redirect_uris[%d] %s", i, err))
		}
	}
	return uris, nil
}

// name is what people see when they are asked for consent.
func (m *metadataReader) name() string {
	var name string
	m.decode("client_name", &name) // what has the wrong type has failed by then
	if err := CheckAppName(name); err != nil {
		m.fail("client_name %v", err)
	}
	return name
}

// text is one line, without characters that change how others are shown.
func (m *metadataReader) text(name string, limit int) string {
	var value string
	if !m.decode(name, &value) {
		return ""
	}
	if !isLine(value, limit) {
		m.fail("%s must be one line of at most %d characters", name, limit)
	}
	return value
}

// choice is one of the choices, of which the first is the default.
func (m *metadataReader) choice(name string, choices ...string) string {
	var value string
	if !m.decode(name, &value) {
		return choices[0]
	}
	if !slices.Contains(choices, value) {
		m.fail("%s is not supported", name)
	}
	return value
}

// subset drops what is not known, and refuses a list of which nothing is left.
func (m *metadataReader) subset(name string, fallback, known []string) []string {
	var values []string
	if !m.decode(name, &values) {
		return fallback
	}
	var kept []string
	for _, value := range values {
		if slices.Contains(known, value) && !slices.Contains(kept, value) {
			kept = append(kept, value)
		}
	}
	if len(kept) == 0 {
		m.fail("%s has no supported value", name)
	}
	return kept
}

// uri is a page or a picture of the client: nothing that a browser would run.
func (m *metadataReader) uri(name string) string {
	value := m.text(name, maxMetadataURI)
	if value == "" {
		return ""
	}
	if !isPageURI(value) {
		m.fail("%s is not an https URL", name)
	}
	return value
}

// isPageURI reports whether a browser can show what is there: https, or http on loopback.
// A host's pages may name it in a header.
func isPageURI(value string) bool {
	u, err := url.Parse(value)
	return err == nil && isLine(value, maxMetadataURI) && hasPlainHost(u) && isPort(u.Port()) && u.User == nil &&
		(u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
}

func (m *metadataReader) list(name string) []string {
	var values []string
	if !m.decode(name, &values) {
		return nil
	}
	if len(values) > maxMetadataList || slices.ContainsFunc(values, func(v string) bool { return v == "" || !isLine(v, maxMetadataText) }) {
		m.fail("%s", errList(name))
	}
	return values
}

// scope is all that apps may request, unless the client asks for less.
func (m *metadataReader) scope(catalog identity.ScopeCatalog) identity.Scopes {
	var text string
	if !m.decode("scope", &text) {
		return catalog.Requestable()
	}
	scopes, err := identity.ParseScopes(text)
	if err == nil {
		err = catalog.CheckRequestable(scopes)
	}
	if err != nil {
		m.fail("%s", err)
	}
	return scopes
}

func isLine(s string, limit int) bool {
	if utf8.RuneCountInString(s) > limit {
		return false
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) {
			return false
		}
	}
	return true
}
