// Package clientmetadata reads what a client says about itself (RFC 7591 section 2), in a
// registration and in a client metadata document. What a client says never widens what it
// may do.
package clientmetadata

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
)

// The bounds of the members, in characters and entries.
const (
	maxText     = 255
	maxURI      = 512
	maxContacts = 20
	maxTypes    = 100 // grant_types and response_types, most of which may be for other servers
)

// Client is the metadata of a client, with defaults filled in. Its JSON form is that of a
// registration response.
type Client struct {
	RedirectURIs []string `json:"redirect_uris"`
	Name         string   `json:"client_name"`
	Scope        string   `json:"scope"`
	Details

	Scopes identity.Scopes `json:"-"`
}

// Details are the members for which an app has no field of its own.
type Details struct {
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Keys
	Notes
}

// Keys are the public keys of a client that authenticates with private_key_jwt: one of the two
// members. Of any other client they are ignored.
type Keys struct {
	Set json.RawMessage `json:"jwks,omitempty"`
	URI string          `json:"jwks_uri,omitempty"`
}

// Notes are members that are kept and decide nothing.
type Notes struct {
	ClientURI       string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	TermsURI        string   `json:"tos_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	Contacts        []string `json:"contacts,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

// Rules are the differences between registrations and documents.
type Rules struct {
	Scopes identity.ScopeCatalog
	// AuthMethods and GrantTypes are the supported ones. The first is the default.
	AuthMethods, GrantTypes []string
	// PrivateUseSchemes are schemes that redirect URIs of public clients may have.
	PrivateUseSchemes []string
	// CheckKeysURI returns what is wrong with the URL of a client's keys, if
	// private_key_jwt is one of AuthMethods.
	CheckKeysURI func(raw string) error
	// MaxRedirectURIs bounds the redirect URIs; 0 means any number.
	MaxRedirectURIs int
	// DefaultName is the name of a client without one. Empty means that client_name is
	// required.
	DefaultName string
	// DropUnsupported removes redirect URIs, scopes and notes that are not valid here instead
	// of rejecting the client, for metadata that is written for many servers. A client whose
	// authentication method is not supported here is a public client if its
	// token_endpoint_auth_methods_supported has none. Unknown grant and response types are
	// always removed.
	DropUnsupported bool
}

// Read returns the client that the members describe. Unknown members are ignored, and null
// means that a member is absent. The error is invalid_redirect_uri or
// invalid_client_metadata, for the first problem.
func (r Rules) Read(members map[string]json.RawMessage) (Client, error) {
	m := reader{Rules: r, members: members}
	method, wrongMethod := m.authMethod() // what redirect URIs there may be depends on it
	c := Client{RedirectURIs: m.redirectURIs(method), Name: m.name(), Scopes: m.scopes()}
	if wrongMethod != "" {
		m.invalid("%s", wrongMethod)
	}
	c.Details = Details{
		AuthMethod:    method,
		GrantTypes:    m.subset("grant_types", r.GrantTypes),
		ResponseTypes: m.subset("response_types", []string{"code"}),
		Keys:          m.keys(method),
		Notes: Notes{
			ClientURI:       m.page("client_uri"),
			LogoURI:         m.page("logo_uri"),
			TermsURI:        m.page("tos_uri"),
			PolicyURI:       m.page("policy_uri"),
			Contacts:        m.contacts(),
			SoftwareID:      m.text("software_id", maxText),
			SoftwareVersion: m.text("software_version", maxText),
		},
	}
	c.Scope = c.Scopes.String()
	if m.problem != nil {
		return Client{}, m.problem
	}
	return c, nil
}

// Lists bounds the lists while the metadata is decoded. The errors are those of Read.
func (r Rules) Lists() map[string]strictjson.List {
	invalid := func(format string, args ...any) error {
		return oautherror.New(oautherror.InvalidClientMetadata, fmt.Sprintf(format, args...))
	}
	lists := map[string]strictjson.List{"contacts": {Most: maxContacts, Refusal: invalid(contactsProblem, maxContacts)}}
	for _, name := range []string{"grant_types", "response_types"} {
		lists[name] = strictjson.List{Most: maxTypes, Refusal: invalid("%s has more than %d entries", name, maxTypes)}
	}
	if r.MaxRedirectURIs > 0 {
		lists["redirect_uris"] = strictjson.List{Most: r.MaxRedirectURIs, Refusal: r.redirectURIsProblem()}
	}
	return lists
}

const contactsProblem = "contacts is not a list of at most %d lines"

func (r Rules) redirectURIsProblem() error {
	text := "redirect_uris must be a list of URIs"
	if r.MaxRedirectURIs > 0 {
		text = fmt.Sprintf("redirect_uris must be a list of 1 to %d URIs", r.MaxRedirectURIs)
	}
	return oautherror.New(oautherror.InvalidRedirectURI, text)
}

// reader reads members and keeps the first problem.
type reader struct {
	Rules
	members map[string]json.RawMessage
	problem error
}

func (m *reader) fail(err error) {
	if m.problem == nil {
		m.problem = err
	}
}

func (m *reader) invalid(format string, args ...any) {
	m.fail(oautherror.New(oautherror.InvalidClientMetadata, fmt.Sprintf(format, args...)))
}

// unsupported is invalid, unless unsupported values are removed.
func (m *reader) unsupported(format string, args ...any) {
	if !m.DropUnsupported {
		m.invalid(format, args...)
	}
}

func (m *reader) has(name string) bool {
	raw, ok := m.members[name]
	return ok && string(raw) != "null"
}

// decode reports whether the member is there and has the right type.
func (m *reader) decode(name string, into any) bool {
	if !m.has(name) {
		return false
	}
	if json.Unmarshal(m.members[name], into) != nil {
		m.invalid("%s has the wrong type", name)
		return false
	}
	return true
}

// redirectURIs have an error code of their own (RFC 7591 section 3.2.2).
func (m *reader) redirectURIs(method string) []string {
	var uris, kept []string
	if !m.has("redirect_uris") || json.Unmarshal(m.members["redirect_uris"], &uris) != nil ||
		len(uris) == 0 || m.MaxRedirectURIs > 0 && len(uris) > m.MaxRedirectURIs {
		m.fail(m.redirectURIsProblem())
	}
	rules := uri.Rules{}
	if method == AuthNone {
		rules.PrivateUseSchemes = m.PrivateUseSchemes
	}
	for i, raw := range uris {
		problem := rules.Problem(raw)
		if problem == "" {
			kept = append(kept, raw)
		} else if !m.DropUnsupported || len(kept) == 0 && i == len(uris)-1 { // the last, and none is left
			m.fail(oautherror.New(oautherror.InvalidRedirectURI, fmt.Sprintf("redirect_uris[%d] %s", i, problem)))
		}
	}
	return kept
}

func (m *reader) name() string {
	name := m.DefaultName
	if !m.decode("client_name", &name) && name != "" {
		return name
	}
	if problem := NameProblem(name); problem != "" {
		m.invalid("client_name %s", problem)
	}
	return name
}

func (m *reader) scopes() identity.Scopes {
	var text string
	sent := m.decode("scope", &text)
	scopes, err := identity.ParseScopes(text)
	// An empty scope of a registration is an absent one. Of a document only an absent one is.
	if !sent || err == nil && scopes.IsEmpty() && !m.DropUnsupported {
		return m.Scopes.Requestable()
	}
	if err == nil && m.DropUnsupported {
		scopes = scopes.Intersect(m.Scopes.Requestable())
		if scopes.IsEmpty() {
			m.invalid("scope has none that apps may request here")
		}
	} else if err == nil {
		err = m.Scopes.CheckRequestable(scopes)
	}
	if err != nil {
		m.invalid("%s", err)
	}
	return scopes
}

// authMethod returns how the client authenticates, or what is wrong with it.
func (m *reader) authMethod() (method, problem string) {
	const name = "token_endpoint_auth_method"
	method = m.AuthMethods[0]
	switch {
	case !m.has(name):
		return method, ""
	case json.Unmarshal(m.members[name], &method) != nil:
		return "", name + " has the wrong type"
	case slices.Contains(m.AuthMethods, method):
		return method, ""
	}
	var others []string
	if m.DropUnsupported && json.Unmarshal(m.members["token_endpoint_auth_methods_supported"], &others) == nil && slices.Contains(others, AuthNone) {
		return AuthNone, ""
	}
	return method, name + " is not supported"
}

// How clients authenticate (RFC 7591 section 2).
const (
	AuthBasic = "client_secret_basic"
	AuthPost  = "client_secret_post"
	AuthNone  = "none"
	AuthKey   = "private_key_jwt" // by assertions that they sign with a key of their own (RFC 7523)
)

// maxKeys is how many bytes a set of keys may have that is part of the metadata.
const maxKeys = 16 << 10

// keys returns the keys of a client that needs some. They must be part of the metadata or at a
// URL, and not both (RFC 7591 section 2).
func (m *reader) keys(method string) Keys {
	if method != AuthKey {
		return Keys{}
	}
	var keys Keys
	switch {
	case m.has("jwks") == m.has("jwks_uri"):
		m.invalid("private_key_jwt needs jwks or jwks_uri, and not both")
	case m.has("jwks"):
		keys.Set = m.members["jwks"]
		if len(keys.Set) > maxKeys {
			m.invalid("jwks is longer than %d bytes; publish it at a jwks_uri", maxKeys)
		} else if _, err := assertion.ParseKeys(keys.Set); err != nil {
			m.invalid("jwks %v", err)
		}
	case m.decode("jwks_uri", &keys.URI):
		if len(keys.URI) > maxURI {
			m.invalid("jwks_uri is longer than %d characters", maxURI)
		} else if err := m.CheckKeysURI(keys.URI); err != nil {
			m.invalid("jwks_uri: %v", err)
		}
	}
	return keys
}

// subset returns the supported values of a list, each once. An empty result is a problem.
func (m *reader) subset(name string, supported []string) []string {
	var values, kept []string
	if !m.decode(name, &values) {
		return supported[:1]
	}
	for _, value := range values {
		if slices.Contains(supported, value) && !slices.Contains(kept, value) {
			kept = append(kept, value)
		}
	}
	if len(kept) == 0 {
		m.invalid("%s has no supported value", name)
	}
	return kept
}

// text returns one line, without characters that change how the text around it reads.
func (m *reader) text(name string, limit int) string {
	var value string
	if m.decode(name, &value) && !isLine(value, limit) {
		m.unsupported("%s must be one line of at most %d characters", name, limit)
		return ""
	}
	return value
}

// page returns the URL of a page or a picture: nothing that a browser would execute.
func (m *reader) page(name string) string {
	value := m.text(name, maxURI)
	if value != "" && !uri.IsPage(value) {
		m.unsupported("%s is not an https URL", name)
		return ""
	}
	return value
}

func (m *reader) contacts() []string {
	var values []string
	m.decode("contacts", &values)
	if len(values) > maxContacts || slices.ContainsFunc(values, func(v string) bool { return v == "" || !isLine(v, maxText) }) {
		m.unsupported(contactsProblem, maxContacts)
		return nil
	}
	return values
}

func isLine(s string, limit int) bool {
	return text.LineProblem(s) == "" && utf8.RuneCountInString(s) <= limit
}
